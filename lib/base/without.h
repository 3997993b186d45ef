/* The message for a library that was missing when rocline was built. */
#pragma once

/* A clause; takes the name of the library as a literal. */
#define ROCL_BUILT_WITHOUT(library) "this rocline was built without " library
