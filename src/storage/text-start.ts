import { type RawBuilder, sql } from 'kysely';
import type { ByEngine, Engine } from './dialect.ts';

/** A text in lower case, compared by its bytes. SQLite knows only the letters of ASCII. */
export const foldCase: ByEngine<(text: RawBuilder<string>) => RawBuilder<string>> = {
  sqlite: (text) => sql`lower(${text})`,
  postgres: (text) => sql`(lower(${text}) collate "C")`,
};

/** A text with this character at its end follows all texts that begin with the text. */
export const lastCharacter = '\u{10ffff}';

/**
 * The condition and the order of the rows whose `column` begins with a parameter, in any case. With the id as the second
 * order, both engines read them from an index over `foldCase` of the column and the id.
 */
export function findByStart(engine: Engine, column: string, parameter: string) {
  const fold = foldCase[engine];
  const text = fold(sql.ref(column));
  const start = fold(sql`cast(${parameter} as text)`);
  return {
    where: sql<boolean>`${text} >= ${start} and ${text} < ${start} || ${sql.lit(lastCharacter)}`,
    orderBy: text,
  };
}
