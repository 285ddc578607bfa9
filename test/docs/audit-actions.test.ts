import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditActions } from '../../src/audit/audit-entry.ts';
import { readDocument, readTable } from './markdown.ts';

test('docs/operations/keys-and-accounts.md lists exactly the actions of the audit log', async () => {
  const document = await readDocument('docs/operations/keys-and-accounts.md');
  const listed = readTable(document, 'What it records').map(([action]) => action);
  assert.deepEqual(
    listed,
    auditActions.map((action) => `\`${action}\``),
  );
});
