import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import { scopes } from '../../src/accounts/account.ts';
import { operations } from '../../src/http/api/operations.ts';
import { expectError } from '../support/expect-error.ts';
import { startWithKey } from '../support/service.ts';

/** Tests of the query and the body of every declared operation. No request reaches a handler. */
const { service, key } = await startWithKey({ after }, {}, 'enterprise', undefined, { scopes });
const file = service.openFile();

const bodyBytesMax = 64 * 1_024;

/** Tables in which the service counts and notes requests. */
const ofService = [
  'leases',
  'strangers',
  'requests',
  'usage_hours',
  'usage_days',
  'usage_windows',
  'key_bans',
];
const tables = file
  .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name")
  .all()
  .map(({ name }) => String(name))
  .filter((name) => !ofService.includes(name));

/** Returns the number of rows and the newest row id of each table that an operation could change. */
function readStore(): unknown {
  return tables.map((table) => ({
    table,
    ...file.prepare(`select count(*) as rows, max(rowid) as newest from ${table}`).get(),
  }));
}

const before = readStore();
afterEach(() => assert.deepEqual(readStore(), before));

for (const { id, method, path, query, body: schema, isBodyOptional } of operations) {
  const line = `${method} ${path.replaceAll(/\{\w+\}/g, '9223372036854775807')}`;

  for (const [name, field] of Object.entries<{ readonly repeats?: true }>(query?.properties ?? {}))
    test(`an empty or repeated parameter ${name} of ${id} gets a 400 that names it`, async () => {
      // A list may be given in parts.
      const repeated = field.repeats === true ? [] : [`?${name}=1&${name}=1`];
      for (const text of [`?${name}=`, ...repeated]) {
        const response = await service.request(key, line.slice(method.length + 1) + text, { method });
        assert.match(await expectError(response, 400, 'invalid_parameter'), new RegExp(name));
      }
    });

  for (const [name, field] of Object.entries<{ readonly type?: unknown }>(schema?.properties ?? {}))
    test(`null or an object as the field ${name} of ${id} gets a 400 that names it`, async () => {
      const takesNull = Array.isArray(field.type) && field.type.includes('null');
      for (const value of takesNull ? ['{}'] : ['null', '{}']) {
        const response = await service.send(key, line, `{"${name}":${value}}`);
        assert.match(await expectError(response, 400, 'invalid_body'), new RegExp(name));
      }
    });

  if (schema !== undefined)
    test(`a body of ${id} that is broken, empty, no object or larger than 64 KiB is refused`, async () => {
      for (const body of ['{"', '[1]', ...(isBodyOptional ? [] : [''])])
        await expectError(await service.send(key, line, body), 400, 'invalid_body');
      const long = `"${'a'.repeat(bodyBytesMax)}"`;
      await expectError(await service.send(key, line, long), 413, 'payload_too_large');
    });
}
