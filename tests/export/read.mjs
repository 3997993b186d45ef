// Reads tables that rocline export has written with readers of others, from npm: hyparquet,
// apache-arrow, @duckdb/node-api. Prints rows of every file as lines of text that tests compare:
//
//     node read.mjs READER FILE...    READER: hyparquet, arrow, duckdb or jsonl
//
// A line is the JSON of a row, an array of its values in the order of the columns: integers as they
// are in full, doubles as JavaScript prints them. The first line is the array of the names.
// The modules are in the folder ROCLINE_NODE_MODULES.
import { createRequire } from 'node:module'
import fs from 'node:fs'
import path from 'node:path'
import url from 'node:url'
import zlib from 'node:zlib'

const modules = process.env.ROCLINE_NODE_MODULES
const require = createRequire(path.join(path.resolve(modules), 'x.js'))
const [reader, ...files] = process.argv.slice(2)

function print(names, rows) {
    const show = v =>
        v === null || v === undefined ? 'null'
        : typeof v === 'bigint' ? v.toString()
        : typeof v === 'number' ? String(v)
        : JSON.stringify(String(v))
    const out = [JSON.stringify(names)]
    for (const row of rows)
        out.push('[' + row.map(show).join(',') + ']')
    process.stdout.write(out.join('\n') + '\n')
}

const readers = {
    async hyparquet(file) {
        const { parquetReadObjects, parquetMetadata } =
            await import(url.pathToFileURL(path.join(modules, 'hyparquet', 'src', 'index.js')))
        const bytes = fs.readFileSync(file)
        const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)
        const metadata = parquetMetadata(buffer)
        const names = metadata.schema.slice(1).map(s => s.name)
        const compressors = {
            GZIP: b => new Uint8Array(zlib.gunzipSync(b)),
        }
        const rows = await parquetReadObjects({ file: buffer, metadata, compressors })
        print(names, rows.map(r => names.map(n => r[n])))
    },
    async duckdb(file) {
        const duckdb = require('@duckdb/node-api')
        const connection = await (await duckdb.DuckDBInstance.create(':memory:')).connect()
        const result = await connection.runAndReadAll(`SELECT * FROM '${file.replace(/'/g, "''")}'`)
        print(result.columnNames(), result.getRows())
    },
    async arrow(file) {
        const { tableFromIPC } = require('apache-arrow')
        const table = tableFromIPC(fs.readFileSync(file))
        const names = table.schema.fields.map(f => f.name)
        const columns = names.map((_, i) => table.getChildAt(i))
        const rows = []
        for (let i = 0; i < table.numRows; i++)
            rows.push(columns.map(c => c.get(i)))
        print(names, rows)
    },
    async jsonl(file) {
        // Numbers as they stand there: JavaScript's have 53 bits.
        const rows = fs.readFileSync(file, 'utf8').split('\n').slice(0, -1).map(line =>
            JSON.parse(line.replace(/("(?:[^"\\]|\\.)*"\s*:\s*)(-?\d+)(?=[,}])/g, '$1{"big":"$2"}')))
        const names = rows.length ? Object.keys(rows[0]) : []
        print(names, rows.map(r => names.map(n => r[n] && typeof r[n] === 'object' ? BigInt(r[n].big) : r[n])))
    },
}

for (const file of files)
    await readers[reader](file)
