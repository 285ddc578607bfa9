const lineLengthMax = 110;

/** Strings and quoted names, which no change of the layout may touch, then single words and characters. */
const words = /'(?:[^']|'')*'|"[^"]*"|\w+|[^\s\w]/g;

/** Words with which a line begins, if a statement takes several. */
const clause =
  /(?<!distinct )from\b|(?<!do update )set\b|(?:select|join|where|group by|having|order by|values|union all|on conflict|do update|when|referencing|for each|references|on delete)\b/y;
const term = /(?:and|or|is distinct from)\b/y;

interface Word {
  readonly text: string;
  readonly at: number;
  /** Number of the parentheses and of the `case` … `end` around the word. */
  readonly depth: number;
}

function* findWords(sql: string): Generator<Word> {
  const open: string[] = [];
  for (const { 0: text, index: at } of sql.matchAll(words)) {
    if (text === ')' || (text === 'end' && open.at(-1) === 'case')) open.pop();
    yield { text, at, depth: open.length };
    if (text === '(' || text === 'case') open.push(text);
  }
}

/** Applies a change to the parts of an SQL text that are not quoted. */
function changeUnquoted(sql: string, change: (part: string) => string): string {
  return sql
    .split(/('(?:[^']|'')*'|"[^"]*")/)
    .map((part, at) => (at % 2 === 1 ? part : change(part)))
    .join('');
}

/** Writes an SQL text in one line. */
export function toOneLine(sql: string): string {
  const spaced = changeUnquoted(sql, (part) => part.replaceAll(/\s+/g, ' '));
  return changeUnquoted(spaced, (part) => part.replaceAll('( ', '(').replaceAll(/ (?=[),;])/g, '')).trim();
}

/** Writes the words of an SQL text in lower case. */
export function toLowerCase(sql: string): string {
  return changeUnquoted(sql, (part) => part.toLowerCase());
}

function splitAt(sql: string, places: readonly number[]): string[] {
  const ends = [...places, sql.length];
  const parts = ends.map((end, index) => sql.slice(places[index - 1] ?? 0, end).trim());
  return parts.filter((part) => part !== '');
}

function splitBefore(sql: string, start: RegExp): string[] {
  const isStart = ({ at, depth }: Word) => {
    start.lastIndex = at;
    return depth === 0 && start.test(sql);
  };
  return splitAt(
    sql,
    findWords(sql)
      .filter(isStart)
      .map(({ at }) => at)
      .toArray(),
  );
}

function splitAfter(sql: string, end: string): string[] {
  const ends = findWords(sql).filter(({ text, depth }) => text === end && depth === 0);
  return splitAt(sql, ends.map(({ at }) => at + 1).toArray());
}

/** Splits a text at its longest part in parentheses: what is before it, inside and behind it. Null if it has none. */
function splitAtGroup(sql: string): readonly [string, string, string] | null {
  const ends = findWords(sql)
    .filter(({ text, depth }) => depth === 0 && (text === '(' || text === ')'))
    .map(({ at }) => at)
    .toArray();
  let longest: readonly [number, number] | null = null;
  for (let index = 0; index + 1 < ends.length; index += 2) {
    const [start = 0, end = 0] = ends.slice(index, index + 2);
    if (longest === null || end - start > longest[1] - longest[0]) longest = [start, end];
  }
  if (longest === null) return null;
  const [start, end] = longest;
  return [sql.slice(0, start + 1), sql.slice(start + 1, end).trim(), sql.slice(end)];
}

/** Puts as many parts in each line as fit. `rest` is the indent of all lines but the first. */
function fillLines(parts: readonly string[], indent: string, rest: string): string {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (last === undefined) lines.push(layOut(part, indent));
    else if (!last.includes('\n') && last.length + 1 + part.length <= lineLengthMax)
      lines[lines.length - 1] = `${last} ${part}`;
    else lines.push(layOut(part, rest));
  }
  return lines.join('\n');
}

/** Lays out an SQL text of one line: by its clauses, then by commas, then by comparisons, then by its parentheses. */
export function layOut(sql: string, indent = '', rest = `${indent}  `): string {
  if (indent.length + sql.length <= lineLengthMax) return indent + sql;
  const [first = '', ...clauses] = splitBefore(sql, clause);
  if (clauses.length > 0)
    return [layOut(first, indent), ...clauses.map((part) => layOut(part, rest))].join('\n');
  for (const parts of [splitAfter(sql, ','), splitBefore(sql, term)])
    if (parts.length > 1) return fillLines(parts, indent, rest);
  const group = splitAtGroup(sql);
  if (group === null) return indent + sql;
  const inside = `${indent}  `;
  return `${indent}${group[0]}\n${layOut(group[1], inside, inside)}\n${layOut(group[2], indent)}`;
}

/** Lays out the creation of a table, with a line for each column and constraint. */
export function layOutTable(sql: string): string {
  const [before, inside, behind] = splitAtGroup(sql) ?? [sql, '', ''];
  const lines = splitAfter(inside, ',').map((part) => layOut(part, '  '));
  return `${before}\n${lines.join('\n')}\n${behind}`;
}

/** Lays out `… begin …; …; end`. */
export function layOutBlock(sql: string): string {
  const [, before = '', inside = ''] = /^(.*?)\bbegin (.*)\bend;?$/.exec(sql) ?? [];
  const statements = splitAfter(inside, ';').map((statement) => layOut(statement, '  '));
  return [...(before === '' ? [] : [layOut(before.trim())]), 'begin', ...statements, 'end'].join('\n');
}
