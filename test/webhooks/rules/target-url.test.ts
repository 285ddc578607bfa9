import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTargetUrl, urlLengthMax } from '../../../src/webhooks/rules/target-url.ts';

const isAllowed = (text: string, allowsHttp: boolean) => parseTargetUrl(text, allowsHttp) !== null;

test('http URLs are accepted only in development', () => {
  assert.ok(isAllowed('http://localhost:3000/hook', true));
  assert.ok(!isAllowed('http://localhost:3000/hook', false));
});

test('https URLs are accepted', () => {
  for (const url of [
    'https://a.example',
    'HTTPS://a.example:8443/p?q=1',
    'https://[2606:4700::1111]/',
    'https://a.example/@x',
    `https://a.example/${'a'.repeat(urlLengthMax - 18)}`,
  ])
    for (const allowsHttp of [true, false]) assert.ok(isAllowed(url, allowsHttp), url);
});

test('a URL that is invalid or has another scheme, a user, a password or a fragment is refused', () => {
  for (const url of [
    ...['', 'a.example', '//a.example', 'https://', 'https:a.example', 'https://a.example/#x'],
    ...['https://u:p@a.example/', 'https://u@a.example/', 'https://@a.example/', 'https://:p@a.example/'],
    ...['https://u:@a.example/', 'https://a.example\\@b.example/', 'https://a.example%2f@b.example/'],
    ...['https:///%ff:x@a.example/0', 'https:///user:secret@a.example/', 'https:////u@a.example/'],
    ...['https://\\u:p@a.example/', 'https:///a.example/', 'https://?u:p@a.example/'],
    ...['https://u%40a.example/', 'https://a.example/#', 'https://a b.example/', 'https://a.example/é'],
    ...['https://a.example/\n', ' https://a.example/', 'https://a.example:99999/', 'https://a.example:0/'],
    ...['https://[::1/', 'ftp://a.example/', 'file:///etc/passwd', 'javascript:alert(1)'],
    `https://a.example/${'a'.repeat(urlLengthMax - 17)}`,
  ])
    for (const allowsHttp of [true, false]) assert.ok(!isAllowed(url, allowsHttp), url);
});

test('the URL that is kept is the parsed one, which parses to itself', () => {
  for (const [text, kept] of [
    ['HTTPS://A.EXAMPLE/b/../c', 'https://a.example/c'],
    ['https://%6c%6f%63alhost/', 'https://localhost/'],
    ['https://0x7f.1', 'https://127.0.0.1/'],
    ['https://a.example?u:p@b', 'https://a.example/?u:p@b'],
  ] as const) {
    assert.equal(parseTargetUrl(text, false)?.href, kept);
    assert.equal(parseTargetUrl(kept, false)?.href, kept);
  }
});
