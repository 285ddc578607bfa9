import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startServer } from '../support/local-server.ts';
import { startService } from '../support/service.ts';
import { describeInBrowser, openVisit, skip } from './chromium.ts';

const serveEmptyPage = () =>
  startServer({ after }, (_request, response) =>
    response.setHeader('content-type', 'text/html').end('<!doctype html>'),
  );
const origin = skip === false ? await serveEmptyPage() : '';

describeInBrowser('a page of a listed origin', (browser) => {
  test('can send the headers of a tracing library and its own', async (t) => {
    const service = await startService(t, { CORS_ORIGINS: origin });
    const { page, complaints } = await openVisit(t, browser());
    await page.goto(origin);
    const headers = {
      authorization: `Bearer ${await service.createKey()}`,
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      tracestate: 'congo=t61rcWkgMzE',
      baggage: 'userId=alice',
      'x-custom': '1',
    };
    const status = await page.evaluate(async ([url, sent]) => (await fetch(url, { headers: sent })).status, [
      `${service.baseUrl}/pets`,
      headers,
    ] as const);
    assert.equal(status, 200);
    assert.deepEqual(complaints, []);
  });
});
