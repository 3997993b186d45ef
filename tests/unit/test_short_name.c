/* --kernel-names short: a signature as a demangler writes it, and the name in it. To add a case,
 * add a row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "source/short_name.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static const struct row {
    const char *full, *name; /* NULL: as it is */
} rows[] = {
    /* names that are no signatures */
    {"", NULL},
    {"vecCopy", NULL},
    {"vecCopy.kd", NULL},
    {"Cijk_Alik_Bljk_HHS_BH_MT64x64x32_SE", NULL},
    {"__amd_rocclr_fillBufferAligned", NULL},
    {"my kernel", NULL},
    {"my kernel (v2)", NULL},
    {"stage [3]", NULL},
    {"a: b", NULL},
    {"<unknown>", NULL},
    {"operator_kernel", NULL},
    {"my kernel [clone .kd]", "my kernel"},
    /* return types, scopes, template arguments, parameters */
    {"vecCopy(double*, double*, int)", "vecCopy"},
    {"vecCopy(double*) [clone .kd]", "vecCopy"},
    {"vecCopy<float> [clone .kd]", "vecCopy"},
    {"void ns::f<1>", "f"},
    {"void at::native::reduce_kernel<512, 1>(int)", "reduce_kernel"},
    {"void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, float, "
     "at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>(float*, float const*, int)",
     "cunn_SoftMaxForward"},
    {"(anonymous namespace)::f(int)", "f"},
    {"A<B>::name<C>(D)", "name"},
    {"A<B<C>, (D)1>::name(D)", "name"},
    {"std::enable_if<((2)>(1)), void>::type ns::f<2>(int)", "f"},
    {"unsigned int const* f(int) const", "f"},
    {"f<void (*)(int), (3)<(4)>(int)", "f"},
    {"f<&ns::operator< >(int)", "f"},
    {"f<&ns::operator->, 1>(int)", "f"},
    {"f[abi:cxx11](int)", "f[abi:cxx11]"},
    {"f<int>[abi:cxx11](int)", "f"},
    {"ns::A<int>::~A()", "~A"},
    {"decltype(auto) q::r<1>(int)", "r"},
    {"decltype ((a)+(b)) q::r<1>(int)", "r"},
    {"ns::decltype(a)::type f(int)", "f"},
    {"my_decltype(auto)", "my_decltype"},
    {"void (*f(int))(char)", "f"},
    {"void (**ns::f<int>(int))(char)", "f"},
    {"int (&f(int)) [3]", "f"},
    {"void (*)(int)", NULL},
    /* functions as scopes */
    {"f(int)::A::g(int)", "g"},
    {"C::f(int) const::A<1>::g(int)", "g"},
    {"f(int) const volatile &&::A::g(int)", "g"},
    {"main::{lambda(int)#1}::operator()(int) const", "{lambda(int)#1}::operator()"},
    {"f(int)::{lambda(int)#1}::operator()(int) const::{lambda()#2}::operator()() const",
     "{lambda()#2}::operator()"},
    {"auto f()::{lambda(auto:1)#1}::operator()<int>(int) const", "{lambda(auto:1)#1}::operator()"},
    {"main::{lambda(int)#1}::_FUN(int)", "_FUN"},
    {"main::{lambda(int)#1}", "{lambda(int)#1}"},
    {"main::'lambda'(int)::operator()(int) const", "'lambda'(int)::operator()"},
    {"main::$_0::operator()(int) const", "$_0::operator()"},
    {"main::<lambda(int)>::operator()(int)", "<lambda(int)>::operator()"},
    /* operators */
    {"void ns::F::operator()<int>(int)", "F::operator()"},
    {"void ns::F<int>::operator()(int)", "F::operator()"},
    {"operator()(int)", "operator()"},
    {"void operator()(int)", "operator()"},
    {"bool ns::operator<(A, B)", "operator<"},
    {"bool ns::operator< <int>(A, B)", "operator<"},
    {"bool ns::operator<<int>(A, B)", "operator<"},
    {"std::ostream& ns::operator<<(A, B)", "operator<<"},
    {"std::ostream& ns::operator<< <int>(A, B)", "operator<<"},
    {"std::ostream& ns::operator<<<int>(A, B)", "operator<<"},
    {"ns::C::operator<<=(int)", "operator<<="},
    {"ns::C::operator<=><int>(int)", "operator<=>"},
    {"ns::C<1>::operator->() const", "operator->"},
    {"ns::C<1>::operator->*(int)", "operator->*"},
    {"ns::C<1>::operator>>(int)", "operator>>"},
    {"ns::C::operator[](int)", "operator[]"},
    {"ns::C::operator,(int)", "operator,"},
    {"ns::C::operator bool() const", "operator bool"},
    {"ns::C::operator std::vector<f(int)>() const", "operator std::vector<f(int)>"},
    {"operator new[](unsigned long)", "operator new[]"},
    {"bool ns::operator< <int>(A)::{lambda()#1}::operator()() const", "{lambda()#1}::operator()"},
    /* brackets without an end */
    {"f(int", "f"},
    {"void f<int", "f"},
    {"void f<int(>::g(int)", "f"},
    {"f{int", "f{int"},
    {"f)int", NULL},
    {"f<int>)int", "f"},
    {"x < y", NULL},
    {"(", NULL},
    {"(*", NULL},
    {")", NULL},
    {"<", NULL},
    {"::", NULL},
    {"f::", NULL},
    {"ns::operator", "operator"},
    {"ns::operator<", "operator<"},
    {"ns::operator std::vector<", "operator std::vector<"},
};

/* From memory of just that size, so that a sanitizer sees a look past the end. */
static rocl_buf shorten(const char *s, size_t n)
{
    rocl_buf out = {0};
    char *copy = malloc(n ? n : 1);
    assert_non_null(copy);
    memcpy(copy, s, n);
    rocl_short_name(&out, copy, n);
    free(copy);
    assert_false(out.failed);
    return out;
}

static void test_rows(void **state)
{
    size_t wrong = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *name = rows[i].name ? rows[i].name : rows[i].full;
        rocl_buf out = shorten(rows[i].full, strlen(rows[i].full));
        if (out.len != strlen(name) || (out.len && memcmp(out.data, name, out.len) != 0)) {
            print_error("%s: \"%.*s\" instead of \"%s\"\n", rows[i].full, (int)out.len,
                        out.len ? (const char *)out.data : "", name);
            wrong++;
        }
        rocl_buf_free(&out);
    }
    assert_int_equal(wrong, 0);
}

/* Every beginning and every end of every row: something, and no more than was there. */
static void test_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t n = strlen(rows[i].full);
        for (size_t cut = 1; cut < n; cut++) {
            rocl_buf head = shorten(rows[i].full, cut);
            rocl_buf tail = shorten(rows[i].full + cut, n - cut);
            assert_in_range(head.len, 1, cut);
            assert_in_range(tail.len, 1, n - cut);
            rocl_buf_free(&head);
            rocl_buf_free(&tail);
        }
    }
}

/* A pattern of steps or of openings, a megabyte of it: what is not linear takes minutes. */
static void test_long(void **state)
{
    static const char *const patterns[] = {"<",
                                           "(",
                                           "{",
                                           "[",
                                           "(<",
                                           "<(",
                                           "<>",
                                           "()",
                                           "()::",
                                           "::",
                                           "a::",
                                           "a b ",
                                           "(*",
                                           "(&",
                                           "decltype(",
                                           "decltype()",
                                           "operator",
                                           "operator ",
                                           "operator<",
                                           "<operator<",
                                           "operator()::",
                                           "a<b>::",
                                           "{}::",
                                           "f() const",
                                           " <",
                                           ">",
                                           ")",
                                           "f(int) const::",
                                           " [clone",
                                           "operator T<"};
    const size_t n = 1 << 20;
    char *text = malloc(n);
    clock_t begin = clock();
    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < COUNT(patterns); i++) {
        size_t len = strlen(patterns[i]);
        for (size_t k = 0; k < n; k++)
            text[k] = patterns[i][k % len];
        rocl_buf out = {0};
        rocl_short_name(&out, text, n);
        assert_in_range(out.len, 1, n);
        rocl_buf_free(&out);
    }
    free(text);
    assert_true((clock() - begin) / CLOCKS_PER_SEC < 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
