import Type from 'typebox';
import { auditActions } from '../../../audit/audit-entry.ts';
import type { ListedAuditEntry } from '../../../audit/audit-log.ts';
import { stringifyExactJson } from '../../../exact-json.ts';
import { enumField } from '../../../schema.ts';
import { defineConsoleOperation } from '../operation.ts';
import { beforeField, pageRows, readTime, textFilter, timeFilter } from './fields.ts';

/** Returns a page of the audit log, and all actions, which the page offers as a filter. */
const listAuditEntries = defineConsoleOperation({
  method: 'GET',
  path: '/audit',
  query: Type.Object({
    account: textFilter,
    actor: textFilter,
    since: timeFilter,
    until: timeFilter,
    action: Type.Optional(enumField(auditActions, 'What was done.')),
    before: beforeField,
  }),

  async handle({ query }, { audit }) {
    const { account, actor, action, since, until, before = null } = query;
    const times = { sinceMs: readTime(since, 'since'), untilMs: readTime(until, 'until') };
    const filter = { account, actor, action, ...times };
    const { items, next } = await audit.list({ ...filter, limit: pageRows, newestId: before });
    return { items: items.map(toItem), next, actions: auditActions };
  },
});

/** Writes `before` and `after` as JSON texts, because a browser would lose digits of large numbers. */
function toItem({ actor, before, after, ...entry }: ListedAuditEntry) {
  return {
    ...entry,
    actorKind: actor.kind,
    actor: actor.name,
    before: before === null ? null : stringifyExactJson(before),
    after: after === null ? null : stringifyExactJson(after),
  };
}

export const auditOperations = [listAuditEntries];
