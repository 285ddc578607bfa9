import assert from 'node:assert/strict';
import { access } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { guides } from '../../src/http/docs-site/guides.ts';
import { findAnchors, findLinks, listDocuments, readDocument, root } from './markdown.ts';

const isElsewhere = (link: string) => /^[a-z]+:/.test(link);

test('the list for partners in the README names every guide', async () => {
  const [, list = ''] = /^For partners:(.*?)\n\n/ms.exec(await readDocument('README.md')) ?? [];
  assert.deepEqual(findLinks(list).sort(), guides.map(({ path }) => path).sort());
});

test('every link inside the project leads to an existing file and heading', async () => {
  for (const path of await listDocuments()) {
    const links = findLinks(await readDocument(path)).filter((link) => !isElsewhere(link));
    for (const link of links) {
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? path : normalize(join(dirname(path), file));
      await assert.doesNotReject(access(join(root, target)), `${path}: ${link}`);
      if (anchor === undefined) continue;
      const anchors = findAnchors(await readDocument(target));
      assert.ok(anchors.has(anchor), `${path}: ${link}: there is no such heading`);
    }
  }
});

test('every document can be reached by links from the README', async () => {
  const documents = await listDocuments();
  const reached = new Set<string>();
  const follow = async (path: string): Promise<void> => {
    if (reached.has(path)) return;
    reached.add(path);
    for (const link of findLinks(await readDocument(path))) {
      const target = normalize(join(dirname(path), link.split('#', 1)[0] ?? ''));
      if (documents.includes(target)) await follow(target);
    }
  };
  await follow('README.md');
  const unreached = documents.filter((path) => !reached.has(path));
  assert.deepEqual(unreached, []);
});
