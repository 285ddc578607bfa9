import Type from 'typebox';
import { auditActions } from '../../../audit/audit-entry.ts';
import { stringifyExactJson } from '../../../exact-json.ts';
import { enumField } from '../../../schema.ts';
import { operation } from '../operation.ts';
import { int64Filter, pageRows, readTime, textFilter, timeFilter } from './fields.ts';

const filters = {
  account: textFilter,
  actor: textFilter,
  since: timeFilter,
  until: timeFilter,
  action: Type.Optional(enumField(auditActions, 'What was done.')),
  before: int64Filter,
};

/** A browser would lose digits of large numbers, so it gets JSON as a text. */
const toText = (value: unknown) => (value === null ? null : stringifyExactJson(value));

export const auditOperations = [
  /** Returns a page of the audit log, and all actions, which the page offers as a filter. */
  operation('GET /audit', filters, async ({ before: newestId = null, since, until, ...query }, { audit }) => {
    const times = { sinceMs: readTime(since, 'since'), untilMs: readTime(until, 'until') };
    const { items, next } = await audit.list({ ...query, ...times, limit: pageRows, newestId });
    const shown = items.map(({ actor, before, after, ...entry }) => ({
      ...entry,
      actorKind: actor.kind,
      actor: actor.name,
      before: toText(before),
      after: toText(after),
    }));
    return { items: shown, next, actions: auditActions };
  }),
];
