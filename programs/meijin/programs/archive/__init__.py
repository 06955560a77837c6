"""The examination: what is refused before anything of a program is unpacked or run.

- `examination`: a program's kind found out, and its bytes examined by the rules of the kind
- `contents`: what an examination has found
- `apart`: the examination in a child process
- `child`: that process, which limits its memory and time
- `zip_reader`: a strict reader of zip archives, which counts what it unpacks
- `zip_directory`: the headers of a zip archive, read and compared
- `entry_names`: names that a file of an archive may have
- `elf`: Linux programs for x86-64
- `script`: Python files with a bot
- `wheel`: Python wheels: tags, hashes and the entry point
"""

from meijin.programs.archive.apart import examine_apart
from meijin.programs.archive.contents import Contents
from meijin.programs.archive.examination import examine, kind_of, kind_of_head

__all__ = ["Contents", "examine", "examine_apart", "kind_of", "kind_of_head"]
