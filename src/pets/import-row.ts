/**
 * A row of an import file. `line` is the number of its first line. If the row breaks a rule of the file format,
 * `brokenRule` is this rule. Otherwise `candidate` is the parsed row, which is not validated yet.
 */
export type Row =
  | { readonly line: number; readonly candidate: unknown }
  | { readonly line: number; readonly brokenRule: string };

/** The `brokenRule` of a row with bytes that are not UTF-8. */
export const notUtf8Rule = 'must be UTF-8';
