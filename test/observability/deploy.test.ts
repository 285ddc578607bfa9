import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { listDocuments, readDocument, readTable } from '../docs/markdown.ts';
import { listHelp } from '../support/command-line.ts';
import { whyNoProgram } from '../support/programs.ts';
import { startService } from '../support/service.ts';

const deploy = join(import.meta.dirname, '../../deploy');

/** The address of no Redis. The service exposes the metrics of a shared Redis even if Redis is unreachable. */
const unreachableRedis = 'redis://127.0.0.1:1';

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly targets?: readonly { readonly expr: string }[];
}

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

const dashboard = await readFile(join(deploy, 'grafana/animal-store.json'), 'utf8');
const { panels } = JSON.parse(dashboard) as { panels: readonly Panel[] };
const alertsFile = join(deploy, 'prometheus/alerts.yml');
const alertsText = await readFile(alertsFile, 'utf8');
const { groups } = parse(alertsText) as { groups: readonly { rules: readonly Alert[] }[] };
const alerts = groups.flatMap(({ rules }) => rules);
const queries = panels.flatMap(({ targets = [] }) => targets);
const expressions = [...queries, ...alerts].map(({ expr }) => expr);

const findNames = (expression: string) => expression.match(/\b(?:animal_store|nodejs|process)_\w+/g) ?? [];

/** Returns the metrics of a service with REDIS_URL after it has handled requests. */
async function readMetrics(): Promise<string> {
  const settings = { REDIS_URL: unreachableRedis, ENVIRONMENT: 'development' };
  const { app, createKey, request, send, post } = await startService({ after }, settings);
  const key = await createKey();
  await request(key, '/pets');
  await send(key, 'POST /webhooks', { url: 'http://127.0.0.1:1/' });
  await post(key, { name: 'Rex', categoryId: 1 });
  for (;;) {
    const text = await (await fetch(`${app.opsUrl}/metrics`)).text();
    if (text.includes('animal_store_webhook_lag_seconds{')) return text;
  }
}

const skip = await whyNoProgram('promtool');
const metrics = await readMetrics();
const names = new Set<string>();
for (const [, name = '', type] of metrics.matchAll(/^# TYPE (\w+) (\w+)$/gm))
  for (const suffix of type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) names.add(name + suffix);
const labels = new Set(Array.from(metrics.matchAll(/[{,](\w+)="/g), ([, label = '']) => label));

/** Throws unless all of `some` are among `all`. */
function expectKnown(some: readonly string[], all: Iterable<string>): void {
  const known = new Set(all);
  assert.ok(some.length > 0);
  for (const one of some) assert.ok(known.has(one), one);
}

test('a running service exposes every metric that the dashboard, the alerts and the documentation name', async () => {
  expectKnown(expressions.flatMap(findNames), names);
  const pages = (await listDocuments('docs')).filter((path) => path !== 'docs/metrics.md');
  const texts = await Promise.all(pages.map(readDocument));
  const named = texts.flatMap((text) => text.match(/\banimal_store_\w+/g) ?? []);
  expectKnown(named.map(withoutSuffix), [...names].map(withoutSuffix));
});

test('the dashboard uses every metric of the service', async () => {
  const ours = [...names].filter((name) => name.startsWith('animal_store_'));
  expectKnown(ours.map(withoutSuffix), expressions.flatMap(findNames).map(withoutSuffix));
});

test('the service or Prometheus sets every label that the dashboard and the alerts use', async () => {
  const known = new Set([...labels, 'instance', 'job']);
  for (const expression of expressions) {
    const groupings = Array.from(expression.matchAll(/by \(([^)]*)\)/g), ([, list = '']) => list);
    const grouped = groupings.flatMap((list) => list.split(/, */));
    const selected = Array.from(expression.matchAll(/[{,](\w+)(?:=~|!=|=)"/g), ([, label = '']) => label);
    for (const label of [...grouped, ...selected]) assert.ok(known.has(label), `${label} in ${expression}`);
  }
});

test('docs/metrics.md lists exactly the metrics of the service, with their types and labels', async () => {
  const types = [...metrics.matchAll(/^# TYPE (animal_store_\w+) (\w+)$/gm)];
  const shown = types.map(([, name, type]) => {
    const [, given = ''] = new RegExp(`^${name}(?:_sum)?\\{(.*)\\}`, 'm').exec(metrics) ?? [];
    const listed = Array.from(given.matchAll(/(\w+)="/g), ([, label]) => `\`${label}\``);
    return `\`${name}\` ${type} ${listed.join(', ')}`;
  });
  const told = readTable(await readDocument('docs/metrics.md'), 'Of the service');
  assert.deepEqual(told.map(([name, type, labels]) => `${name} ${type} ${labels}`).sort(), shown.sort());
});

test('promtool finds nothing wrong with the metrics and the alerts', { skip }, async () => {
  const checked = spawnSync('promtool', ['check', 'metrics'], { input: metrics, encoding: 'utf8' });
  assert.deepEqual([checked.status, checked.stdout, checked.stderr], [0, '', '']);
  const rules = spawnSync('promtool', ['check', 'rules', alertsFile]);
  assert.equal(rules.status, 0, String(rules.stderr));
});

test('every rate of the dashboard uses $__rate_interval, so that it spans several scrapes at any zoom', async () => {
  for (const expression of expressions) assert.doesNotMatch(expression, /\$__(?!rate_interval\b)/);
});

test('every panel of the dashboard has a unique id and a query', () => {
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  for (const { id, type, targets } of panels)
    assert.ok(type === 'row' || (targets ?? []).length > 0, `panel ${id}`);
});

test('docs/operations/monitor.md lists exactly the alerts, each with its severity', async () => {
  const told = readTable(await readDocument('docs/operations/monitor.md'), 'Alerts');
  const listed = told.map(([name, severity]) => [name, severity]);
  const actual = alerts.map(({ alert, labels: { severity } }) => [`\`${alert}\``, severity]);
  assert.deepEqual(listed, actual);
});

test('every command and console page that an alert refers to exists', async () => {
  const rows = readTable(await readDocument('docs/operations/monitor.md'), 'Alerts').map((row) => row.join());
  const commands = (await listHelp()).map(({ command }) => command.join(' '));
  const named = [
    ...rows.flatMap((row) => [...row.matchAll(/`npx animal-store ([\w -]+)`/g)]),
    ...alertsText.matchAll(/"([a-z]+ list)"/g),
  ].map(([, command = '']) => command.replace(/ --.*/, ''));
  expectKnown(named, commands);
  const pages = readTable(await readDocument('docs/console.md'), 'What you find').map(([page = '']) => page);
  const linked = rows.flatMap((row) => Array.from(row.matchAll(/\*\*(\w+)\*\*/g), ([, page = '']) => page));
  expectKnown(linked, pages);
});

test('docs/console.md lists every section of the console', async () => {
  const source = await readFile(join(deploy, '../src/operator/console/pages/main.ts'), 'utf8');
  const [, list = ''] = /const rooms = \[(.*?)\];/s.exec(source) ?? [];
  const rooms = Array.from(list.matchAll(/title: '(\w+)'/g), ([, title = '']) => title);
  const pages = readTable(await readDocument('docs/console.md'), 'What you find').map(([page]) => page);
  const sections = pages.filter((page) => !page?.startsWith('One '));
  assert.deepEqual(sections, rooms);
});

test('every alert has a severity and a description of what to do', () => {
  assert.ok(alerts.length > 5);
  for (const { alert, labels, annotations } of alerts) {
    assert.match(labels.severity, /^(?:critical|warning|info)$/, alert);
    assert.ok(annotations.summary && annotations.description, alert);
  }
});

function withoutSuffix(name: string): string {
  return name.replace(/_(?:bucket|sum|count)$/, '');
}
