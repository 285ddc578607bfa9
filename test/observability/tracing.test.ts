import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { installPackages } from '../support/install-packages.ts';
import { listen } from '../support/local-server.ts';
import { serveInProcess } from '../support/processes.ts';

const folder = join(import.meta.dirname, '../../deploy/opentelemetry');
/** The packages are no dependency of the service, so the test installs them. Without a registry, CI=true throws. */
const skip = await installPackages(folder).then(
  () => false as const,
  (error: unknown) => {
    if (process.env['CI'] === 'true') throw error;
    return 'SKIPPED: the packages of deploy/opentelemetry cannot be installed';
  },
);

interface Span {
  readonly traceId: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
}

interface Traces {
  readonly resourceSpans: readonly {
    readonly resource: Pick<Span, 'attributes'>;
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

const serverKind = 2;

test('OpenTelemetry attached with node --import gives one trace for each request, named by its route', {
  skip,
}, async (t) => {
  const spans: Span[] = [];
  const services = new Set<string | undefined>();
  const collector = createServer(async (request, response) => {
    const { resourceSpans } = (await json(request)) as Traces;
    for (const { resource } of resourceSpans)
      services.add(resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue);
    spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans: sent }) => sent)));
    response.end('{}');
    collector.emit('received');
  });
  const { origin } = await listen(t, collector);
  const service = await serveInProcess(t, {
    preload: `import ${JSON.stringify(pathToFileURL(join(folder, 'register.js')))}`,
    settings: {
      ENVIRONMENT: 'development',
      OTEL_EXPORTER_OTLP_ENDPOINT: origin,
      OTEL_BSP_SCHEDULE_DELAY: '50',
    },
  });
  const headers = { authorization: `Bearer ${service.key}` };
  const paths = ['/pets?limit=1', '/pets/7', '/orders/8', '/nothing', '/pets?limit=1'];
  for (const path of paths) await (await fetch(service.url + path, { headers })).text();
  const list = () => spans.filter(({ kind }) => kind === serverKind);
  while (list().length < paths.length) await once(collector, 'received');

  assert.deepEqual([...services], ['animal-store']);
  const routed = ['GET /v1/pets', 'GET /v1/pets/{petId}', 'GET /v1/orders/{orderId}', 'GET', 'GET /v1/pets'];
  const names = list().map(({ name }) => name);
  assert.deepEqual(names, routed);
  assert.equal(new Set(list().map(({ traceId }) => traceId)).size, paths.length);
  const routes = list().map(({ attributes }) => attributes.find(({ key }) => key === 'http.route')?.value);
  assert.deepEqual(routes[1], { stringValue: '/v1/pets/{petId}' });
  assert.equal((await service.end('SIGTERM')).code, 0);
});
