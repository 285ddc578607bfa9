import Type from 'typebox';
import { auditActions } from '../../../audit/audit-entry.ts';
import type { ListedAuditEntry } from '../../../audit/audit-log.ts';
import { stringifyExactJson } from '../../../exact-json.ts';
import { enumField } from '../../../schema.ts';
import { defineConsoleOperation } from '../operation.ts';
import { beforeField, pageRows, textFilter } from './fields.ts';

/** Returns a page of the audit log, and all actions, which the page offers as a filter. */
const listAuditEntries = defineConsoleOperation({
  method: 'GET',
  path: '/audit',
  query: Type.Object({
    account: textFilter,
    action: Type.Optional(enumField(auditActions, 'What was done.')),
    before: beforeField,
  }),

  async handle({ query: { account, action, before = null } }, { audit }) {
    const { entries, nextId } = await audit.list({ account, action, limit: pageRows, newestId: before });
    return { items: entries.map(toItem), next: nextId, actions: auditActions };
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
