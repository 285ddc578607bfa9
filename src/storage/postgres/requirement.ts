/** Something that the service needs from a PostgreSQL server, or from the store on it. */
export interface Requirement {
  readonly check:
    | 'store'
    | 'commits'
    | 'writing'
    | 'connections'
    | 'rights'
    | 'parts'
    | 'rows'
    | 'ids'
    | 'promotion';
  readonly is: string;
  /** What the operator should do, or null if the requirement is met. */
  readonly todo: string | null;
}

/** Runs SQL and returns the rows. */
export type Query = (sql: string) => Promise<readonly object[]>;
