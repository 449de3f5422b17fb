"""Programs that were written apart from the others, by somebody who knew neither those nor what smelt is good at."""
