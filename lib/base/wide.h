/* 128 bits: for products of two 64-bit numbers, and sums that are exact. */
#pragma once

__extension__ typedef unsigned __int128 rocl_u128;
