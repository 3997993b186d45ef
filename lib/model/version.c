/* Which rocline this is, and on what it stands. */
#include <cjson/cJSON.h>
#include <csv.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>

#include "base/deflate.h"
#include "rocline.h"

static char details[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void compose(void)
{
    snprintf(details, sizeof details, "rocline %s (sqlite %s, %s, cJSON %s, libcsv %d.%d.%d)",
             ROCLINE_VERSION, sqlite3_libversion(), rocl_deflate_engine(), cJSON_Version(),
             CSV_MAJOR, CSV_MINOR, CSV_RELEASE);
}

const char *rocl_version(void)
{
    return ROCLINE_VERSION;
}

const char *rocl_version_details(void)
{
    pthread_once(&once, compose);
    return details;
}
