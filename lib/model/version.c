/* The version of rocline and of its libraries. */
#include <cjson/cJSON.h>
#include <csv.h>
#include <pthread.h>
#include <sqlite3.h>
#include <yaml.h>
#include <stdio.h>

#include "base/deflate.h"
#include "base/lz4.h"
#include "base/unpack.h"
#include "rocline.h"

#ifdef ROCL_OTF2
#include <otf2/otf2.h>
#define WITH_OTF2 ", OTF2 " OTF2_VERSION
#else
#define WITH_OTF2 ""
#endif

static char details[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void compose_details(void)
{
    snprintf(details, sizeof details,
             "rocline %s (sqlite %s, %s%s%s%s%s, cJSON %s, libcsv %d.%d.%d, libyaml %s%s)",
             ROCLINE_VERSION, sqlite3_libversion(), rocl_deflate_engine(),
             *rocl_unpack_zstd() ? ", " : "", rocl_unpack_zstd(), *rocl_lz4_version() ? ", " : "",
             rocl_lz4_version(), cJSON_Version(), CSV_MAJOR, CSV_MINOR, CSV_RELEASE,
             yaml_get_version_string(), WITH_OTF2);
}

const char *rocl_version(void)
{
    return ROCLINE_VERSION;
}

const char *rocl_version_details(void)
{
    pthread_once(&once, compose_details);
    return details;
}
