import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readDocument, readTable } from '../docs/markdown.ts';
import { startService } from '../support/service.ts';

const deploy = join(import.meta.dirname, '../../deploy');

/** With any the service shows what it shows with one; it is not asked. */
const unreachableRedis = 'redis://127.0.0.1:1';

interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly type: string;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
}

async function readDashboard(): Promise<Dashboard> {
  return JSON.parse(await readFile(join(deploy, 'grafana/animal-store.json'), 'utf8'));
}

const readAlerts = () => readFile(join(deploy, 'prometheus/alerts.yml'), 'utf8');

async function listExpressions(): Promise<string[]> {
  const { panels } = await readDashboard();
  const shown = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  // An alert's expression ends where its next key begins.
  const alerts = (await readAlerts()).matchAll(/^ +expr: (?:\|\n)?(.*?)\n +(?:for|labels):/gms);
  return [...shown, ...Array.from(alerts, ([, expression = '']) => expression)];
}

const findNames = (expression: string) => expression.match(/\b(?:animal_store|nodejs|process)_\w+/g) ?? [];

/** What a running service shows once it has done something, one that counts together with others besides. */
async function readMetrics(test: Parameters<typeof startService>[0]): Promise<string> {
  const { app, createKey, request } = await startService(test, { REDIS_URL: unreachableRedis });
  await request(await createKey(), '/pets');
  return (await fetch(`${app.opsUrl}/metrics`)).text();
}

async function readShown(test: Parameters<typeof startService>[0]) {
  const text = await readMetrics(test);
  const names = new Set<string>();
  for (const [, name = '', type] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm))
    for (const suffix of type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''])
      names.add(name + suffix);
  return { names, labels: new Set(Array.from(text.matchAll(/[{,](\w+)="/g), ([, label = '']) => label)) };
}

test('every metric that the dashboard and the alerts ask for is shown by a running service', async (t) => {
  const { names } = await readShown(t);
  const asked = (await listExpressions()).flatMap(findNames);
  assert.ok(asked.length > 30);
  assert.deepEqual(
    asked.filter((name) => !names.has(name)),
    [],
  );
});

test('every metric of the service is on the dashboard', async (t) => {
  const { names } = await readShown(t);
  const asked = new Set((await listExpressions()).flatMap(findNames).map(withoutSuffix));
  const ours = new Set([...names].filter((name) => name.startsWith('animal_store_')).map(withoutSuffix));
  assert.deepEqual(
    [...ours].filter((name) => !asked.has(name)),
    [],
  );
});

test('every label that the dashboard and the alerts ask for is shown, or set by Prometheus', async (t) => {
  const { labels } = await readShown(t);
  const known = new Set([...labels, 'instance', 'job']);
  for (const expression of await listExpressions()) {
    const grouped = Array.from(expression.matchAll(/by \(([^)]*)\)/g), ([, list = '']) =>
      list.split(/, */),
    ).flat();
    const selected = Array.from(expression.matchAll(/[{,](\w+)(?:=~|!=|=)"/g), ([, label = '']) => label);
    for (const label of [...grouped, ...selected]) assert.ok(known.has(label), `${label} in ${expression}`);
  }
});

test('docs/metrics.md tells every metric of the service, its type and its labels, and no other', async (t) => {
  const text = await readMetrics(t);
  const shown = Array.from(
    text.matchAll(/^# TYPE (animal_store_\w+) (\w+)$/gm),
    ([, name = '', type = '']) => {
      const [, labels = ''] = new RegExp(`^${name}(?:_sum)?\\{(.*)\\}`, 'm').exec(text) ?? [];
      const names = Array.from(labels.matchAll(/(\w+)="/g), ([, label]) => `\`${label}\``);
      return `\`${name}\` ${type} ${names.join(', ')}`;
    },
  );
  const told = readTable(await readDocument('docs/metrics.md'), 'Of the service');
  assert.deepEqual(told.map(([name, type, labels]) => `${name} ${type} ${labels}`).sort(), shown.sort());
});

test('a rate of the dashboard spans several scrapes, however near it is looked at', async () => {
  for (const expression of (await listExpressions()).filter((text) => text.includes('$__')))
    assert.doesNotMatch(expression, /\$__(?!rate_interval\b)/);
});

test('every panel of the dashboard has an id of its own, and asks for something', async () => {
  const { panels } = await readDashboard();
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  for (const { id, type, targets } of panels)
    assert.ok(type === 'row' || (targets ?? []).length > 0, `panel ${id}`);
});

test('every alert says how bad it is and what to do', async () => {
  const alerts = (await readAlerts()).split(/^ +- alert: /m).slice(1);
  assert.ok(alerts.length > 5);
  for (const alert of alerts) {
    assert.match(alert, /severity: (?:critical|warning|info)$/m);
    assert.match(alert, /summary: .+\n +description: .+/);
  }
});

function withoutSuffix(name: string): string {
  return name.replace(/_(?:bucket|sum|count)$/, '');
}
