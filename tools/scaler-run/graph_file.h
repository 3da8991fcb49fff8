/*
 * graph_file: reads a graph from YAML, of which JSON is a part.  Whatever is wrong is told in one line that begins with
 * the file and the line in it.
 */
#ifndef RUN_GRAPH_FILE_H
#define RUN_GRAPH_FILE_H

#include "graph.h"

/* file "-" is stdin.  False: words in error.  Connects the nodes, too. */
bool graph_read(struct graph *g, const char *file, struct text *error);

#endif
