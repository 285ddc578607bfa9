import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCodes, errorStatus } from '../../../src/errors.ts';
import { operations } from '../../../src/http/api/operations.ts';
import { guides, readGuide } from '../../../src/http/docs-site/guides.ts';

const installation = {
  environment: 'staging',
  baseUrl: 'http://localhost/v1',
  otherUrl: null,
  webhookSources: [],
} as const;

for (const { id, guide } of operations)
  test(`${id} names its guide`, () => {
    assert.ok(
      guides.some(({ name }) => name === guide),
      'give the operation a `guide` of docs-site/guides.ts',
    );
  });

for (const guide of guides)
  test(`the page ${guide.name} has the title that the navigation has`, async () => {
    const { title, content, markdown } = await readGuide(guide, installation, operations);
    assert.match(content.markup, new RegExp(`<h1>${title}</h1>`));
    assert.ok(markdown.startsWith(`# ${title}\n`));
  });

test('the section of each error that an account can have says how to list its own requests', async () => {
  const guide = guides.find(({ name }) => name === 'errors') ?? assert.fail('there is no guide to errors');
  const { markdown } = await readGuide(guide, installation, operations);
  for (const code of errorCodes) {
    const [, section = ''] = markdown.split(`### ${code}\n`);
    const [text = ''] = section.split(/^#/m);
    const isOfNobody = [401, 408, 431].includes(errorStatus[code]);
    assert.equal(
      text.includes(`[\`GET /account/requests?code=${code}\`](#find-your-failed-requests)`),
      !isOfNobody,
      code,
    );
  }
});
