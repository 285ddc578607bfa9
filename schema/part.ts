/** Runs SQL on a store and returns the rows. */
export type Execute = (sql: string) => Promise<readonly Readonly<Record<string, string>>[]>;

/** A table, or something that belongs to one. `table` is empty for a function of several tables. */
export interface Part {
  readonly kind: string;
  readonly table: string;
  readonly sql: string;
}
