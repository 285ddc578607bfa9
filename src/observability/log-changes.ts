import { sql } from 'kysely';
import { type Authored, addAuditEntry } from '../audit/audit-log.ts';
import type { Config } from '../config.ts';
import { type Database, type Steps, statement, step, transaction } from '../storage/database.ts';
import type { Log } from './log.ts';

/** How an instance logs: the values of `LOG_LEVEL` and `LOG_REQUESTS`. */
export interface Logging {
  readonly level: Config['logLevel'];
  readonly requests: Config['logRequests'];
}

/** How an instance shall log until it starts again. What is null is as its settings say. */
export type LogChange = { readonly [Name in keyof Logging]: Logging[Name] | null };

interface NewChange extends Authored {
  /** A random text, which tells the change from the one before it. */
  readonly id: string;
  readonly change: LogChange;
}

/** Stores how all running instances log. It replaces the change before. */
export const changeLog = transaction(
  'changeLog',
  'row locks',
  function* ({ id, change, by }: NewChange): Steps<void> {
    yield* step(putChange, { id, ...change });
    yield* addAuditEntry(by, 'log.changed', 'log', { after: { ...change } });
  },
);

const putChange = statement((query, p: { id: string } & { [Name in keyof LogChange]: string | null }) =>
  query
    .insertInto('log_change')
    .values({ name: sql.lit('log'), id: p.id, level: p.level, requests: p.requests })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet({
        id: ({ ref }) => ref('excluded.id'),
        level: ({ ref }) => ref('excluded.level'),
        requests: ({ ref }) => ref('excluded.requests'),
      }),
    ),
);

const selectChange = statement((query, _: Record<never, never>) =>
  query.selectFrom('log_change').select(['id', 'level', 'requests']),
);

/** How this instance logs now. */
export type LogSwitch = ReturnType<typeof createLogSwitch>;

/**
 * Creates the switch of this instance's log, which begins with the settings. `follow` applies a change of the store, if it was
 * made since the first call; an instance that starts later keeps its settings.
 */
export function createLogSwitch(database: Database, log: Log, settings: Logging) {
  let logging = settings;
  /** The id of the last change that was seen. Undefined before the first read; null: there was none. */
  let seen: string | null | undefined;

  return {
    read: (): Logging => logging,

    /** Throws AppError `unavailable` if the store cannot be read. */
    async follow(): Promise<void> {
      const [row] = await database.read(selectChange, {});
      const isNew = seen !== undefined && row !== undefined && row.id !== seen;
      seen = row?.id ?? null;
      if (!isNew) return;
      const { level, requests } = row as LogChange;
      logging = { level: level ?? settings.level, requests: requests ?? settings.requests };
      log.level = logging.level;
      log.warn(logging, 'the log has changed until the next start');
    },
  };
}
