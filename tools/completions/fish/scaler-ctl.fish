# fish completion of scaler-ctl, made by tools/completions/make
complete -c scaler-ctl -f -a 'status workers clients list dump cancel'
complete -c scaler-ctl -l json -d 'JSON: one object per line'
complete -c scaler-ctl -l force -d 'cancel: kill what runs'
complete -c scaler-ctl -l timeout -x -d 'of each question (10)'
complete -c scaler-ctl -l token-file -r -F -d 'its first line is the secret to say'
complete -c scaler-ctl -l log-level -x -a 'none error warn info debug' -d 'none error warn info debug (error)'
complete -c scaler-ctl -s h -l help -d 'print this and exit'
complete -c scaler-ctl -s V -l version -d 'print the version and exit'
