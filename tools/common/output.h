/* Where outputs go, by AMD's rules and ours. */
#pragma once

#include "common/common.h"

/* ---- placeholders.c -------------------------------------------------------------------------- */

/* Fills in the placeholders of -o and -d, once, before anything else here is called: from the first
 * process of the first input, and from this run. Returns -1, or the exit code of a usage error. */
int output_fill_names(common *c);
/* The name of a folder instead of a file is a usage error. */
int output_refuse_folder(const char *name);
/* Fills in the name of one option, which has no variable, and need not be given; the name stays for
 * good. A command that is to be run is what values are taken from, if there is one, instead of
 * inputs. */
int output_fill_name(const common *c, const strings *command, const char *option,
                     const char **name);

/* -o NAME or its default. */
const char *output_name(const common *c);

/* -d or its default. */
const char *output_folder(const common *c);

/* ---- output.c -------------------------------------------------------------------------------- */

/* What -o names literally, and its path: something that exists and is not a folder, or not. Names
 * of files are relative to the current folder unless a folder was named. */
typedef enum output_target { OUTPUT_NEW, OUTPUT_FILE, OUTPUT_DEVICE } output_target;
output_target output_look(const common *c, char *path, size_t size);

/* Where an output that is one file goes: FOLDER/NAME + suffix. A `file` that the user named as such
 * has its name already, and so has what is there. Returns -1, or the exit code of a usage error. */
int output_place(const common *c, bool file, const char *suffix, char *path, size_t size);
/* Where several files go, whose names only begin with NAME: whatever is called so. */
int output_files(const common *c, bool file, const char *suffix, char *path, size_t size);

/* Parts NAME, which is changed, into the folder and what the names of files in it begin with: it
 * may lead to another folder, /tmp/x, or runs/x below the output folder. Returns as above. */
int output_split(const common *c, char *name, const char **folder, const char **prefix);

/* Makes a folder and its parents; complains and returns ROCL_OUTPUT when it cannot. */
rocl_status output_make_folder(const char *path);
/* Makes the folder that a file is in. */
rocl_status output_make_parent(const char *path);

/* Are both names of one file, and that no pipe or device? */
bool same_file(const char *a, const char *b);

/* Columns of the terminal that shows the output; 0: it goes elsewhere. */
unsigned output_width(const common *c);
/* How wide text is that goes elsewhere: people read it in editors, and in mails. */
enum { OUTPUT_WIDTH = 200 };

/* Refuses an output that is an input by any name; -1: it is not. */
int output_check(const common *c, const char *path);

/* The row of -z: an int, below 0 if it is not given. */
#define COMPRESS_OPTION(to, help)                                                                  \
    {                                                                                              \
        "compress", 'z', OPT_NUMBER, to, "LEVEL", "fast|small", 0, 9, help                         \
    }

/* The level of a struct of options in rocline.h for what -z says. */
int compression_level(int z);

/* Is the output packed with gzip? By an option (-z has a level from 0 on), else by the name. The
 * ending of the name is adapted, except for devices. */
bool output_is_packed(bool gzip, int level, char *path, size_t size);

/* Reports success on a terminal: the path of a file and its size (nothing for devices); the same
 * for several. */
void output_done(const char *path);
void output_files_done(const char *where, uint64_t files, const char *what, uint64_t bytes);

/* Says, with -v, in how many further `rows` slices are that overlap others. */
void output_report_moved(const rocl_written *r, const char *rows);

/* The form that the ending of a name says (before .gz), as --format takes it; NULL: it has none. */
const char *output_form(const char *path);

bool ends_with(const char *text, const char *end);
/* An environment variable; `otherwise` if it is unset or empty. */
const char *get_variable(const char *name, const char *otherwise);
/* Says that the name of the output is; returns the exit code. */
int name_too_long(void);
