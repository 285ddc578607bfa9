import { layOut, layOutBlock, layOutTable, toOneLine } from './format-sql.ts';
import type { Execute, Part } from './part.ts';

const layouts: Readonly<Record<string, (sql: string) => string>> = {
  table: layOutTable,
  index: layOut,
  trigger: layOutBlock,
};

/** Lists the tables, indexes and triggers of a SQLite store. An index that a constraint makes has no text. */
export async function listSqliteParts(execute: Execute): Promise<Part[]> {
  const rows = await execute(`select type as kind, tbl_name as "table", sql from sqlite_schema
    where sql is not null and name not like 'sqlite_%'
    order by case type when 'table' then 1 when 'index' then 2 else 3 end, name`);
  return rows.map(({ kind = '', table = '', sql = '' }) => {
    const text = toOneLine(sql.replace(/^CREATE (UNIQUE )?\w+/, (start) => start.toLowerCase()));
    return { kind, table, sql: layouts[kind]?.(text.replace(/^(create [a-z ]*)"(\w+)"/, '$1$2')) ?? text };
  });
}
