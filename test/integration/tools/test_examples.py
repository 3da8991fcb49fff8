"""Every example is run and its output compared."""
import os
import subprocess

from harness import BUILD, LIMIT, ToolTest, clean_environment, main


class Examples(ToolTest):
    def example(self, name, *args):
        return subprocess.run([os.path.join(BUILD, "examples", name), *args], env=clean_environment(),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT)

    def test_hello(self):
        self.assert_ends(self.example("hello"), 0, "hello, world\n", "")

    def test_graph(self):
        self.assert_ends(self.example("graph"), 0, "338350\n", "")

    def test_fibonacci(self):
        self.assert_ends(self.example("fibonacci"), 0, "610\n", "")

    def test_hello_has_fewer_than_thirty_useful_lines(self):
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../examples/hello.c")) as file:
            useful = [line for line in file
                      if line.strip() not in ("", "{", "}") and not line.startswith(("/*", " *", "#"))]
        self.assertLess(len(useful), 30)

    def test_embed_scheduler(self):
        worker = os.path.join(BUILD, "tools", "scaler-worker")
        for address in ("tcp://127.0.0.1:0", "ipc://" + self.path("socket")):
            done = self.example("embed_scheduler", worker, address)
            self.assert_ends(done, 0, "the sum of the first 20 squares is 2870\n")

    def test_spawn_workers(self):
        self.assert_ends(self.example("spawn_workers"), 0, "twice the sum of 1 to 300 is 90300\n", "")

    def test_host_loop(self):
        self.assert_ends(self.example("host_loop"), 0, "100 tasks, sum 5050\n", "")

    def test_commands(self):
        out = "sort: success, exit 0: 1\n2\n3\n\nscript: task, exit 3: well, hello\nseq: 6888896 bytes\n"
        self.assert_ends(self.example("commands"), 0, out, "")

    def test_plugin(self):
        _, url = self.start_scheduler()
        self.start_worker(url, "-j1", "--plugin", os.path.join(BUILD, "examples", "plugin.so"))
        done = self.example("plugin_client", url, "one two  three", "", "four")
        self.assert_ends(done, 0, "3 one two  three\n0 \n1 four\n", "")


if __name__ == "__main__":
    main()
