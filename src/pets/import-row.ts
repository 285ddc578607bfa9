/** A row of a file: the line in which it begins, and what may be a NewPet or the rule of the format that it breaks. */
export type Row =
  | { readonly line: number; readonly candidate: unknown }
  | { readonly line: number; readonly brokenRule: string };

export const notUtf8Rule = 'must be UTF-8';
