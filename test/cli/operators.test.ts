import assert from 'node:assert/strict';
import { userInfo } from 'node:os';
import { test } from 'node:test';
import { createWorld, expectMistake, type World } from '../support/command-line.ts';

const user = userInfo().username;

async function listActors(world: World): Promise<string[]> {
  const entries = (await world.readJson('audit')) as { by: { name: string }; action: string }[];
  return entries.map(({ by, action }) => `${action} by ${by.name}`);
}

test('operators are listed with their roles until they are removed', async (t) => {
  const world = await createWorld(t);
  assert.equal(await world.print('operators add mira'), 'mira is an operator with the role reader\n');
  await world.print('operators add omar --role admin');
  const listed = (await world.readJson('operators list')) as { name: string; role: string }[];
  assert.deepEqual(
    listed.map(({ name, role }) => [name, role]),
    [
      ['mira', 'reader'],
      ['omar', 'admin'],
    ],
  );
  await world.print('operators remove mira');
  assert.equal(((await world.readJson('operators list')) as unknown[]).length, 1);
});

test('a mistake with an operator is one line', async (t) => {
  const world = await createWorld(t);
  await world.print('operators add mira');
  expectMistake(await world.run('operators add mira'), 1, /there is an operator "mira" already/);
  expectMistake(await world.run('operators remove omar'), 1, /there is no operator "omar"/);
  expectMistake(await world.run('operators token omar'), 1, /there is no operator "omar"/);
  expectMistake(await world.run('operators add "a b"'), 2, /letters, digits/);
  expectMistake(await world.run('operators add omar --role boss'), 2, /reader, support, admin/);
  expectMistake(await world.run('console --as omar'), 1, /there is no operator "omar"/);
});

test('a token is shown once, listed by its id, and can be ended alone', async (t) => {
  const world = await createWorld(t);
  await world.print('operators add report');
  const made = await world.readJson('operators token report --expires-in 1d');
  assert.match(made.token, /^[\w-]{43}$/);
  assert.equal(made.expiresAt, '2027-01-03T12:00:00.000Z');
  const list = await world.print('console --list');
  assert.ok(list.includes(made.id));
  assert.ok(!list.includes(made.token));
  await world.print(['console', '--end', made.id]);
  assert.ok(!(await world.print('console --list')).includes(made.id));
  expectMistake(await world.run(['console', '--end', made.id]), 1, /there is no session or token/);
});

test('the audit log has links, ended sessions, operators, tokens, vacuums and migrations', async (t) => {
  const world = await createWorld(t);
  await world.print('operators add mira');
  await world.print('operators token mira');
  await world.print('console');
  await world.print('console --revoke');
  await world.print('operators remove mira');
  await world.print('vacuum');
  await world.print('migrate');
  assert.deepEqual((await listActors(world)).reverse(), [
    `operator.added by ${user}`,
    `operator.token_made by ${user}`,
    `console.link_made by ${user}`,
    `console.session_ended by ${user}`,
    `operator.removed by ${user}`,
    `store.vacuumed by ${user}`,
    `store.migrated by ${user}`,
  ]);
});

test('the audit log has the name of --as beside the system user', async (t) => {
  const world = await createWorld(t);
  await world.print('accounts create Zoo --plan free --as mira');
  assert.deepEqual(await listActors(world), [`account.created by ${user} as mira`]);
  assert.equal(((await world.readJson('audit --by mira')) as unknown[]).length, 1);
});

test('a link without a name is for the person behind sudo', async (t) => {
  const world = await createWorld(t);
  const { code } = await world.run('console', { settings: { SUDO_USER: 'omar' } });
  assert.equal(code, 0);
  const [link] = world.execute("select subject from audit where action = 'console.link_made'");
  assert.equal(link?.['subject'], 'omar');
});
