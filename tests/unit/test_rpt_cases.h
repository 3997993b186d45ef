/* Logs, options, and the reports that the script rpt made of them under Python 2.7, less the blanks
 * at the ends of lines. To add a case, add a row. */
#ifndef TEST_RPT_CASES_H
#define TEST_RPT_CASES_H

#include "rocline.h"

typedef struct rpt_case {
    const char *name;
    rocl_rpt_options o;
    const char *log, *report;
    rocl_status status;
} rpt_case;

#define SMALL_LOG                                                                                  \
    "profile:  kernel;\t               a;\t   2.0 us;\t1000;\t3000;\t#0.0.1;\n"                    \
    "profile:  kernel;\t               b;\t   0.5 us;\t5500;\t6000;\t#1.0.1;\n"                    \
    "profile:    copy;\tH2D;\t5.0 us;\t4000;\t9000;\t#0.1.3;\t64 bytes;\t0.0 MB;\t0.4 GB/s;\n"     \
    "profile:  kernel;\t               a;\t   1.5 us;\t26000;\t27500;\t#0.0.1;\n"                  \
    "profile:  kernel;\t             end;\t   1.0 us;\t40000;\t41000;\t#0.0.1;\n"

/* Of it, with all gaps. */
#define SMALL_RESOURCES                                                                            \
    "\n"                                                                                           \
    "Resource=GPU0 Showing 2/2 records    8.75% busy\n"                                            \
    "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name\n"                       \
    "        57.50%       23.0        1     23.0     23.0     23.0  gap 20us-50us\n"               \
    "         8.75%        3.5        2      1.8      1.5      2.0  a\n"                           \
    "\n"                                                                                           \
    "Resource=GPU1 Showing 1/1 records    1.25% busy\n"                                            \
    "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name\n"                       \
    "         1.25%        0.5        1      0.5      0.5      0.5  b\n"                           \
    "\n"                                                                                           \
    "Resource=DATA Showing 1/1 records   12.50% busy\n"                                            \
    "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name\n"                       \
    "        12.50%        5.0        1      5.0      5.0      5.0  H2D_64_bytes\n"

static const rpt_case rpt_cases[] = {
    {"resources, gaps and totals",
     {.topn = 20},
     SMALL_LOG,
     "ROI_START: GPU0         0.000000:      +0.00 kernel  #0.0.1        1: a\n"
     "ROI_STOP : GPU0         0.039000:      +0.00 kernel  #0.0.1        5: end\n"
     "ROI_TIME=   0.000 secs\n" SMALL_RESOURCES,
     ROCL_OK},
    {"text, gaps and explanations",
     {.topn = 20, .text_trace = true, .info = true},
     "first\n"
     "second\n" SMALL_LOG "last\n",
     "ROI_START: GPU0         0.000000:      +0.00 kernel  #0.0.1        3: a\n"
     "ROI_STOP : GPU0         0.039000:      +0.00 kernel  #0.0.1        7: end\n"
     "ROI_TIME=   0.000 secs\n"
     "Display each of the profiling events on a single line.  Fields:\n"
     "  Resource : The resource this command executed on.  May be GPU# for a specific GPU or DATA "
     "to indicate data transfer command\n"
     "  Start(ms) : Start time of the command, displayed in ms.  Command start from time 0\n"
     "  +Time(us) : Time which the command contributed to the 'critical' path\n"
     "  Type  : Type of the command (kernel, barrier, copy)\n"
     "  Dev.Q.Cmd : The command sequm is a unique mononotically increasing number per-queue, so "
     "the triple of device.queue.cmdseqnum uniquely identifies the command during the process "
     "execution.\n"
     "  LineNum : Line number from the input HCC_PROF_FILE\n"
     "  Name  : Name of the record.  For kernels, the kernel name.  For copy commands, the name "
     "contains the direction and size.  For barrier commands the name contains dependency counts "
     "and acquire and release fences.\n"
     "Resource        Start(ms) +Time(us)    Type #Dev.Q.Cmd    LineNum Name\n"
     "> first\n"
     "> second\n"
     "GPU0         0.000000:      +2.00 kernel  #0.0.1        3: a\n"
     "DATA         0.003000:      +5.00 copy    #0.1.3        5: H2D_64_bytes\n"
     "GPU1         0.004500:      +0.50 kernel  #1.0.1        4: b\n"
     "GPU0         0.002000:     +23.00 gap                ======\n"
     "GPU0         0.025000:      +1.50 kernel  #0.0.1        6: a\n" SMALL_RESOURCES,
     ROCL_OK},
    {"no application text",
     {.topn = 20, .text_trace = true, .hide_app_text = true},
     "first\n" SMALL_LOG,
     "ROI_START: GPU0         0.000000:      +0.00 kernel  #0.0.1        2: a\n"
     "ROI_STOP : GPU0         0.039000:      +0.00 kernel  #0.0.1        6: end\n"
     "ROI_TIME=   0.000 secs\n"
     "Resource        Start(ms) +Time(us)    Type #Dev.Q.Cmd    LineNum Name\n"
     "GPU0         0.000000:      +2.00 kernel  #0.0.1        2: a\n"
     "DATA         0.003000:      +5.00 copy    #0.1.3        4: H2D_64_bytes\n"
     "GPU1         0.004500:      +0.50 kernel  #1.0.1        3: b\n"
     "GPU0         0.002000:     +23.00 gap                ======\n"
     "GPU0         0.025000:      +1.50 kernel  #0.0.1        5: a\n" SMALL_RESOURCES,
     ROCL_OK},
    {"shares of busy time",
     {.topn = 2, .no_gaps = true},
     SMALL_LOG,
     "ROI_START: GPU0         0.000000:      +0.00 kernel  #0.0.1        1: a\n"
     "ROI_STOP : GPU0         0.039000:      +0.00 kernel  #0.0.1        5: end\n"
     "ROI_TIME=   0.000 secs\n"
     "\n"
     "Resource=GPU0 Showing 2/2 records    8.75% busy\n"
     "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name\n"
     "       100.00%        3.5        2      1.8      1.5      2.0  a\n"
     "\n"
     "Resource=GPU1 Showing 1/1 records    1.25% busy\n"
     "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name\n"
     "       100.00%        0.5        1      0.5      0.5      0.5  b\n"
     "\n"
     "Resource=DATA Showing 1/1 records   12.50% busy\n"
     "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name\n"
     "       100.00%        5.0        1      5.0      5.0      5.0  H2D_64_bytes\n",
     ROCL_OK},
    {"no limit at 0",
     {.topn = 0},
     SMALL_LOG,
     "ROI_START: GPU0         0.000000:      +0.00 kernel  #0.0.1        1: a\n"
     "ROI_STOP : GPU0         0.039000:      +0.00 kernel  #0.0.1        5: end\n"
     "ROI_TIME=   0.000 secs\n"
     "\n"
     "Resource=GPU0 Showing 0/2 records    8.75% busy\n"
     "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name\n"
     "        57.50%       23.0        1     23.0     23.0     23.0  gap 20us-50us\n"
     "         8.75%        3.5        2      1.8      1.5      2.0  a\n"
     "\n"
     "Resource=GPU1 Showing 0/1 records    1.25% busy\n"
     "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name\n"
     "         1.25%        0.5        1      0.5      0.5      0.5  b\n"
     "\n"
     "Resource=DATA Showing 0/1 records   12.50% busy\n"
     "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name\n"
     "        12.50%        5.0        1      5.0      5.0      5.0  H2D_64_bytes\n",
     ROCL_OK},
    {"equal totals as a dictionary has them",
     {.topn = -1},
     "profile:  kernel;\t           kern0;\t   1.0 us;\t1000;\t2000;\t#0.0.1;\n"
     "profile:  kernel;\t           kern1;\t   1.0 us;\t2000;\t3000;\t#0.0.1;\n"
     "profile:  kernel;\t           kern2;\t   1.0 us;\t3000;\t4000;\t#0.0.1;\n"
     "profile:  kernel;\t           kern3;\t   1.0 us;\t4000;\t5000;\t#0.0.1;\n"
     "profile:  kernel;\t           kern4;\t   1.0 us;\t5000;\t6000;\t#0.0.1;\n"
     "profile:  kernel;\t           kern5;\t   1.0 us;\t6000;\t7000;\t#0.0.1;\n"
     "profile:  kernel;\t           kern6;\t   1.0 us;\t7000;\t8000;\t#0.0.1;\n"
     "profile:  kernel;\t           kern7;\t   1.0 us;\t8000;\t9000;\t#0.0.1;\n"
     "profile:  kernel;\t           kern8;\t   1.0 us;\t9000;\t10000;\t#0.0.1;\n"
     "profile:  kernel;\t           kern9;\t   1.0 us;\t10000;\t11000;\t#0.0.1;\n"
     "profile:  kernel;\t          kern10;\t   1.0 us;\t11000;\t12000;\t#0.0.1;\n"
     "profile:  kernel;\t          kern11;\t   1.0 us;\t12000;\t13000;\t#0.0.1;\n"
     "profile:  kernel;\t               z;\t   1.0 us;\t13000;\t14000;\t#0.0.1;\n",
     "ROI_START: GPU0         0.000000:      +0.00 kernel  #0.0.1        1: kern0\n"
     "ROI_STOP : GPU0         0.012000:      +0.00 kernel  #0.0.1       13: z\n"
     "ROI_TIME=   0.000 secs\n"
     "\n"
     "Resource=GPU0 Showing 12/12 records   92.31% busy\n"
     "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name\n"
     "         7.69%        1.0        1      1.0      1.0      1.0  kern9\n"
     "         7.69%        1.0        1      1.0      1.0      1.0  kern8\n"
     "         7.69%        1.0        1      1.0      1.0      1.0  kern1\n"
     "         7.69%        1.0        1      1.0      1.0      1.0  kern0\n"
     "         7.69%        1.0        1      1.0      1.0      1.0  kern3\n"
     "         7.69%        1.0        1      1.0      1.0      1.0  kern2\n"
     "         7.69%        1.0        1      1.0      1.0      1.0  kern5\n"
     "         7.69%        1.0        1      1.0      1.0      1.0  kern4\n"
     "         7.69%        1.0        1      1.0      1.0      1.0  kern7\n"
     "         7.69%        1.0        1      1.0      1.0      1.0  kern6\n"
     "         7.69%        1.0        1      1.0      1.0      1.0  kern11\n"
     "         7.69%        1.0        1      1.0      1.0      1.0  kern10\n",
     ROCL_OK},
    {"limits of gaps belong to the next class",
     {.topn = 20, .text_trace = true, .gaps = (const int64_t[]){20, 10, 10}, .gap_count = 3},
     "profile:  kernel;\t               k;\t   1.0 us;\t0;\t1000;\t#0.0.1;\n"
     "profile:  kernel;\t               k;\t   0.0 us;\t10999;\t11000;\t#0.0.1;\n"
     "profile:  kernel;\t               k;\t   1.0 us;\t21000;\t22000;\t#0.0.1;\n"
     "profile:  kernel;\t               k;\t   1.0 us;\t41999;\t43000;\t#0.0.1;\n"
     "profile:  kernel;\t               k;\t   1.0 us;\t63000;\t64000;\t#0.0.1;\n"
     "profile:  kernel;\t               k;\t   1.0 us;\t64001;\t65000;\t#0.0.1;\n"
     "profile:  kernel;\t               k;\t   1.0 us;\t70000;\t71000;\t#0.0.1;\n",
     "ROI_START: GPU0         0.000000:      +0.00 kernel  #0.0.1        1: k\n"
     "ROI_STOP : GPU0         0.070000:      +0.00 kernel  #0.0.1        7: k\n"
     "ROI_TIME=   0.000 secs\n"
     "Resource        Start(ms) +Time(us)    Type #Dev.Q.Cmd    LineNum Name\n"
     "GPU0         0.000000:      +1.00 kernel  #0.0.1        1: k\n"
     "GPU0         0.001000:     +10.00 gap                ==\n"
     "GPU0         0.010999:      +0.00 kernel  #0.0.1        2: k\n"
     "GPU0         0.011000:     +10.00 gap                ======\n"
     "GPU0         0.021000:      +1.00 kernel  #0.0.1        3: k\n"
     "GPU0         0.022000:     +20.00 gap                ======\n"
     "GPU0         0.041999:      +1.00 kernel  #0.0.1        4: k\n"
     "GPU0         0.043000:     +20.00 gap                ======\n"
     "GPU0         0.063000:      +1.00 kernel  #0.0.1        5: k\n"
     "GPU0         0.064000:      +0.00 gap                ==\n"
     "GPU0         0.064001:      +1.00 kernel  #0.0.1        6: k\n"
     "\n"
     "Resource=GPU0 Showing 4/4 records    7.04% busy\n"
     "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name\n"
     "        42.25%       30.0        2     15.0     10.0     20.0  gap 10us-20us\n"
     "        28.17%       20.0        1     20.0     20.0     20.0  gap >=20us\n"
     "        14.08%       10.0        2      5.0      0.0     10.0  gap <10us\n"
     "         7.04%        5.0        6      0.8      0.0      1.0  k\n",
     ROCL_OK},
    {"raw lines; barriers that wait take no time",
     {.topn = 20, .raw = true, .text_trace = true},
     "text\n"
     "profile:  kernel;\t               a;\t   1.0 us;\t1000;\t2000;\t#0.0.1;\n"
     "profile: barrier;\tdepcnt=1,acq=none,rel=sys;\t1.0 us;\t3000;\t4000;\t#0.0.2;\n"
     "profile: barrier;\t;\t0.5 us;\t5000;\t5500;\t#0.0.2;\n"
     "profile: barrier;\tdeps:0_acq:none;\t1.0 us;\t6000;\t7000;\t#0.0.2;\n"
     "profile:  kernel;\t               e;\t   1.0 us;\t8000;\t9000;\t#0.0.1;\n",
     "raw: profile:  kernel;\t               a;\t   1.0 us;\t1000;\t2000;\t#0.0.1;\n"
     "\n"
     "raw: profile: barrier;\tdepcnt=1,acq=none,rel=sys;\t1.0 us;\t3000;\t4000;\t#0.0.2;\n"
     "\n"
     "raw: profile: barrier;\t;\t0.5 us;\t5000;\t5500;\t#0.0.2;\n"
     "\n"
     "raw: profile: barrier;\tdeps:0_acq:none;\t1.0 us;\t6000;\t7000;\t#0.0.2;\n"
     "\n"
     "raw: profile:  kernel;\t               e;\t   1.0 us;\t8000;\t9000;\t#0.0.1;\n"
     "\n"
     "ROI_START: GPU0         0.000000:      +0.00 kernel  #0.0.1        2: a\n"
     "ROI_STOP : GPU0         0.007000:      +0.00 kernel  #0.0.1        6: e\n"
     "ROI_TIME=   0.000 secs\n"
     "Resource        Start(ms) +Time(us)    Type #Dev.Q.Cmd    LineNum Name\n"
     "> text\n"
     "GPU0         0.000000:      +1.00 kernel  #0.0.1        2: a\n"
     "GPU0         0.001000:      +2.00 gap                ==\n"
     "GPU0         0.003000:      +0.00 barrier #0.0.2        3: depcnt=1,acq=none,rel=sys\n"
     "GPU0         0.003000:      +1.00 gap                ==\n"
     "GPU0         0.004000:      +0.50 barrier #0.0.2        4:\n"
     "GPU0         0.004500:      +0.50 gap                ==\n"
     "GPU0         0.005000:      +1.00 barrier #0.0.2        5: deps:0_acq:none\n"
     "\n"
     "Resource=GPU0 Showing 5/5 records   31.25% busy\n"
     "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name\n"
     "        43.75%        3.5        3      1.2      0.5      2.0  gap <10us\n"
     "        12.50%        1.0        1      1.0      1.0      1.0  a\n"
     "        12.50%        1.0        1      1.0      1.0      1.0  deps:0_acq:none\n"
     "         6.25%        0.5        1      0.5      0.5      0.5\n"
     "         0.00%        0.0        1      0.0      0.0      0.0  depcnt=1,acq=none,rel=sys\n",
     ROCL_OK},
    {"without barriers",
     {.topn = 20, .ignore_barriers = true, .text_trace = true},
     "text\n"
     "profile:  kernel;\t               a;\t   1.0 us;\t1000;\t2000;\t#0.0.1;\n"
     "profile: barrier;\tdepcnt=1,acq=none,rel=sys;\t1.0 us;\t3000;\t4000;\t#0.0.2;\n"
     "profile: barrier;\t;\t0.5 us;\t5000;\t5500;\t#0.0.2;\n"
     "profile:  kernel;\t               e;\t   1.0 us;\t8000;\t9000;\t#0.0.1;\n"
     "profile:  kernel;\t               f;\t   0.5 us;\t9000;\t9500;\t#0.0.1;\n",
     "ROI_START: GPU0         0.000000:      +0.00 kernel  #0.0.1        2: a\n"
     "ROI_STOP : GPU0         0.008000:      +0.00 kernel  #0.0.1        6: f\n"
     "ROI_TIME=   0.000 secs\n"
     "Resource        Start(ms) +Time(us)    Type #Dev.Q.Cmd    LineNum Name\n"
     "> text\n"
     "GPU0         0.000000:      +1.00 kernel  #0.0.1        2: a\n"
     "> profile: barrier;\tdepcnt=1,acq=none,rel=sys;\t1.0 us;\t3000;\t4000;\t#0.0.2;\n"
     "> profile: barrier;\t;\t0.5 us;\t5000;\t5500;\t#0.0.2;\n"
     "GPU0         0.001000:      +6.00 gap                ==\n"
     "GPU0         0.007000:      +1.00 kernel  #0.0.1        5: e\n"
     "\n"
     "Resource=GPU0 Showing 3/3 records   23.53% busy\n"
     "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name\n"
     "        70.59%        6.0        1      6.0      6.0      6.0  gap <10us\n"
     "        11.76%        1.0        1      1.0      1.0      1.0  a\n"
     "        11.76%        1.0        1      1.0      1.0      1.0  e\n",
     ROCL_OK},
    {"with times of calls",
     {.topn = 20},
     "profile: kernel; a; 1.0 us; 900; 1000; 2000; #0.0.1;\n"
     "profile: kernel; late; 1.0 us; 9000; 9500; 9900; #0.0.3;\n"
     "profile: kernel; early; 1.0 us; 5000; 4000; 6000; #0.0.2;\n"
     "profile:  kernel;\t               z;\t   0.0 us;\t20000;\t20001;\t#0.0.1;\n",
     "warning: unknown opid tag= 6000\n"
     "ROI_START: GPU0         0.000000:      +0.00 kernel  #0.0.1        1: a\n"
     "ROI_STOP : GPU0         0.019000:      +0.00 kernel  #0.0.1        4: z\n"
     "ROI_TIME=   0.000 secs\n"
     "\n"
     "Resource=GPU0 Showing 4/4 records    2.11% busy\n"
     "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name\n"
     "        44.73%        8.5        2      4.2      3.0      5.5  gap <10us\n"
     "         5.26%        1.0        1      1.0      1.0      1.0  a\n"
     "         2.11%        0.4        1      0.4      0.4      0.4  late\n"
     "        -5.26%       -1.0        1     -1.0     -1.0      0.0  early\n",
     ROCL_PARTIAL},
    {"lines that cannot be parsed",
     {.topn = 20},
     "profile: kernel\n"
     "profile:  kernel;\t               a;\t   1.0 us;\t1000;\t2000;\t#0.0.1;\n"
     "profile: kernel; x; fast us; 1; 2; #0.0.1;\n"
     "profile: kernel; y; 1.0 us; 2100; 2200; nothing\n"
     "profile: copy; H2D; 1.0 us; 2300; 2400; #0.1.1;\n"
     "profile: copy; H2D; 1.0 us; 2500; 2600; #0.1.2; lots;\n"
     "profile: wibble; w; 1.0 us; 2600; 2700; #0.0.9;\n"
     "profile: kernel; z; 1.0 us; 2800; 2900; #0.0;\n"
     "profile:  kernel;\t               b;\t   1.0 us;\t3000;\t4000;\t#0.0.1;\n"
     "profile: kernel; cut; 1.0 us; 83",
     "warning: ignored unparsable profile line: profile: kernel\n"
     "warning: ignored unparsable profile line: profile: kernel; x; fast us; 1; 2; #0.0.1;\n"
     "warning: unknown opid tag= nothing\n"
     "warning: can't find copy size in\n"
     "warning: can't find copy size in lots\n"
     "warning: unknown opid tag= #0.0\n"
     "warning: ignored unparsable profile line: profile: kernel; cut; 1.0 us; 83 ROI_START: GPU0   "
     "      0.000000:      +0.00 kernel  #0.0.1        2: a\n"
     "ROI_STOP : GPU0         0.002000:      +0.00 kernel  #0.0.1        9: b\n"
     "ROI_TIME=   0.000 secs\n"
     "warning:unknown type='wibble'\n"
     "\n"
     "Resource=GPU0 Showing 4/4 records   40.00% busy\n"
     "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name\n"
     "        33.33%        1.0        1      1.0      1.0      1.0  a\n"
     "        23.33%        0.7        2      0.3      0.1      0.6  gap <10us\n"
     "         3.33%        0.1        1      0.1      0.1      0.1  y\n"
     "         3.33%        0.1        1      0.1      0.1      0.1  z\n"
     "\n"
     "Resource=DATA Showing 2/2 records    6.67% busy\n"
     "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name\n"
     "         6.67%        0.2        2      0.1      0.1      0.1  H2D\n"
     "         3.33%        0.1        1      0.1      0.1      0.1  gap <10us\n"
     "\n"
     "Resource=None Showing 1/1 records    3.33% busy\n"
     "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name\n"
     "         3.33%        0.1        1      0.1      0.1      0.1  w\n",
     ROCL_PARTIAL},
    {"a region between lines",
     {.topn = 20, .roi_start = "@3", .roi_stop = "@9"},
     "begin\n"
     "profile:  kernel;\t               a;\t   1.0 us;\t1000;\t2000;\t#0.0.1;\n"
     "step 1\n"
     "more\n"
     "profile:  kernel;\t               b;\t   1.0 us;\t3000;\t4000;\t#0.0.1;\n"
     "step 2\n"
     "profile:  kernel;\t               c;\t   2.5 us;\t2500;\t5000;\t#0.0.1;\n"
     "step 3 \t\n"
     "profile:  kernel;\t               d;\t   1.0 us;\t7000;\t8000;\t#0.0.1;\n"
     "profile:  kernel;\t               e;\t   0.5 us;\t9000;\t9500;\t#0.0.1;\n"
     "step 4\n",
     "ROI_START: GPU0         0.000000:      +0.00 kernel  #0.0.1        5: b\n"
     "ROI_STOP : GPU0         0.004000:      +0.00 kernel  #0.0.1        9: d\n"
     "ROI_TIME=   0.000 secs\n"
     "\n"
     "Resource=GPU0 Showing 1/1 records   20.00% busy\n"
     "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name\n"
     "        20.00%        1.0        1      1.0      1.0      1.0  b\n",
     ROCL_OK},
    {"a region between texts",
     {.topn = 20,
      .text_trace = true,
      .roi_start = "%step \\d",
      .roi_stop = "2%^(?:step|x) [\\w.]+?$"},
     "begin\n"
     "profile:  kernel;\t               a;\t   1.0 us;\t1000;\t2000;\t#0.0.1;\n"
     "step 1\n"
     "more\n"
     "profile:  kernel;\t               b;\t   1.0 us;\t3000;\t4000;\t#0.0.1;\n"
     "step 2\n"
     "profile:  kernel;\t               c;\t   2.5 us;\t2500;\t5000;\t#0.0.1;\n"
     "step 3 \t\n"
     "profile:  kernel;\t               d;\t   1.0 us;\t7000;\t8000;\t#0.0.1;\n"
     "profile:  kernel;\t               e;\t   0.5 us;\t9000;\t9500;\t#0.0.1;\n"
     "step 4\n",
     "info: %roi regular expression matched @6 'step 2'\n"
     "info: %roi regular expression matched @3 'step 1'\n"
     "ROI_START: GPU0         0.000000:      +0.00 kernel  #0.0.1        7: c\n"
     "ROI_STOP : GPU0         0.000500:      +0.00 kernel  #0.0.1        5: b\n"
     "ROI_TIME=   0.000 secs\n"
     "Resource        Start(ms) +Time(us)    Type #Dev.Q.Cmd    LineNum Name\n"
     "> step 2\n"
     "GPU0         0.000000:      +2.50 kernel  #0.0.1        7: c\n"
     "\n"
     "Resource=GPU0 Showing 1/1 records  166.67% busy\n"
     "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name\n"
     "       166.67%        2.5        1      2.5      2.5      2.5  c\n",
     ROCL_OK},
    {"a region from a time",
     {.topn = 20, .roi_start = "^1"},
     "begin\n"
     "profile:  kernel;\t               a;\t   1.0 us;\t1000;\t2000;\t#0.0.1;\n"
     "step 1\n"
     "more\n"
     "profile:  kernel;\t               b;\t   1.0 us;\t3000;\t4000;\t#0.0.1;\n"
     "step 2\n"
     "profile:  kernel;\t               c;\t   2.5 us;\t2500;\t5000;\t#0.0.1;\n"
     "step 3 \t\n"
     "profile:  kernel;\t               d;\t   1.0 us;\t7000;\t8000;\t#0.0.1;\n"
     "profile:  kernel;\t               e;\t   0.5 us;\t9000;\t9500;\t#0.0.1;\n"
     "step 4\n",
     "ROI_START: GPU0         0.000000:      +0.00 kernel  #0.0.1        2: a\n"
     "ROI_STOP : GPU0         0.008000:      +0.00 kernel  #0.0.1       10: e\n"
     "ROI_TIME=   0.000 secs\n"
     "\n"
     "Resource=GPU0 Showing 5/5 records   52.94% busy\n"
     "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name\n"
     "        29.41%        2.5        1      2.5      2.5      2.5  c\n"
     "        29.41%        2.5        2      1.2      0.5      2.0  gap <10us\n"
     "        11.76%        1.0        1      1.0      1.0      1.0  a\n"
     "        11.76%        1.0        1      1.0      1.0      1.0  d\n"
     "         0.00%        0.0        1      0.0      0.0      0.0  b\n",
     ROCL_OK},
    {"the text after the last record",
     {.topn = 20, .roi_start = "%begin", .roi_stop = "4%step"},
     "begin\n"
     "profile:  kernel;\t               a;\t   1.0 us;\t1000;\t2000;\t#0.0.1;\n"
     "step 1\n"
     "more\n"
     "profile:  kernel;\t               b;\t   1.0 us;\t3000;\t4000;\t#0.0.1;\n"
     "step 2\n"
     "profile:  kernel;\t               c;\t   2.5 us;\t2500;\t5000;\t#0.0.1;\n"
     "step 3 \t\n"
     "profile:  kernel;\t               d;\t   1.0 us;\t7000;\t8000;\t#0.0.1;\n"
     "profile:  kernel;\t               e;\t   0.5 us;\t9000;\t9500;\t#0.0.1;\n"
     "step 4",
     "info: %roi regular expression matched @1 'begin'\n"
     "info: %roi regular expression matched @11 'step 4'\n"
     "ROI_START: GPU0         0.000000:      +0.00 kernel  #0.0.1        2: a\n"
     "ROI_STOP : GPU0         0.008000:      +0.00 kernel  #0.0.1       10: e\n"
     "ROI_TIME=   0.000 secs\n"
     "\n"
     "Resource=GPU0 Showing 5/5 records   52.94% busy\n"
     "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name\n"
     "        29.41%        2.5        1      2.5      2.5      2.5  c\n"
     "        29.41%        2.5        2      1.2      0.5      2.0  gap <10us\n"
     "        11.76%        1.0        1      1.0      1.0      1.0  a\n"
     "        11.76%        1.0        1      1.0      1.0      1.0  d\n"
     "         0.00%        0.0        1      0.0      0.0      0.0  b\n",
     ROCL_OK},
    {"a command that ends before it starts",
     {.topn = 20, .text_trace = true},
     "profile:  kernel;\t               a;\t   1.0 us;\t1000;\t2000;\t#0.0.1;\n"
     "profile:  kernel;\t             neg;\t  -0.1 us;\t3900;\t3800;\t#0.0.1;\n"
     "profile:  kernel;\t               b;\t   0.5 us;\t4000;\t4500;\t#0.0.1;\n"
     "profile:  kernel;\t               c;\t   1.0 us;\t5000;\t6000;\t#0.0.1;\n",
     "ROI_START: GPU0         0.000000:      +0.00 kernel  #0.0.1        1: a\n"
     "ROI_STOP : GPU0         0.004000:      +0.00 kernel  #0.0.1        4: c\n"
     "ROI_TIME=   0.000 secs\n"
     "Resource        Start(ms) +Time(us)    Type #Dev.Q.Cmd    LineNum Name\n"
     "GPU0         0.000000:      +1.00 kernel  #0.0.1        1: a\n"
     "GPU0         0.001000:      +1.90 gap                ==\n"
     "GPU0         0.002900:      -0.10 kernel  #0.0.1        2: neg\n"
     "GPU0         0.002800:      +0.20 gap                ==\n"
     "GPU0         0.003000:      +0.50 kernel  #0.0.1        3: b\n"
     "\n"
     "Resource=GPU0 Showing 4/4 records   28.00% busy\n"
     "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name\n"
     "        42.00%        2.1        2      1.1      0.2      1.9  gap <10us\n"
     "        20.00%        1.0        1      1.0      1.0      1.0  a\n"
     "        10.00%        0.5        1      0.5      0.5      0.5  b\n"
     "        -2.00%       -0.1        1     -0.1     -0.1      0.0  neg\n",
     ROCL_PARTIAL},
    {"numbers as Python reads them",
     {.topn = 20, .text_trace = true},
     "profile: kernel; a ; 1e1 us; + 5; 1005 ; ## 1 . 2.-3;\n"
     "profile:kernel; b; .5\tus; 7; 8; #0.0.0\n"
     "profile:kernel:x; b; inf us; 2007; 0003008; #0.0.1\r\n"
     "profile: kernel; c; -1.e3; 5000; 5001; #0.0.2",
     "warning: ignored unparsable profile line: profile:kernel; b; .5\tus; 7; 8; #0.0.0\n"
     "ROI_START: GPU1         0.000000:      +0.00 kernel  #1.2.-3        1: a\n"
     "ROI_STOP : GPU0         0.004995:      +0.00 kernel  #0.0.2        4: c\n"
     "ROI_TIME=   0.000 secs\n"
     "Resource        Start(ms) +Time(us)    Type #Dev.Q.Cmd    LineNum Name\n"
     "GPU1         0.000000:      +1.00 kernel  #1.2.-3        1: a\n"
     "> profile:kernel; b; .5\tus; 7; 8; #0.0.0\n"
     "GPU0         0.002002:      +1.00 kernel  #0.0.1        3: b\n"
     "\n"
     "Resource=GPU0 Showing 1/1 records   20.04% busy\n"
     "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name\n"
     "        20.04%        1.0        1      1.0      1.0      1.0  b\n"
     "\n"
     "Resource=GPU1 Showing 1/1 records   20.02% busy\n"
     "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name\n"
     "        20.02%        1.0        1      1.0      1.0      1.0  a\n",
     ROCL_PARTIAL},
};

#endif
