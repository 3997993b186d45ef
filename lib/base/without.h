/* The message for a library that was missing when rocline was built. */
#ifndef ROCL_BASE_WITHOUT_H
#define ROCL_BASE_WITHOUT_H

/* A clause; takes the name of the library as a literal. */
#define ROCL_BUILT_WITHOUT(library) "this rocline was built without " library

#endif
