import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWorld } from '../support/command-line.ts';

test('search prints what it finds by the start of a name', async (t) => {
  const { print } = await createWorld(t);
  await print('keys create --plan pro --account Zoo --name Warehouse');
  assert.match(await print('search zo'), /^WHAT +ID +NAME +ACCOUNT +STATE\naccount +Zoo +- +Zoo +active\n$/);
  assert.match(await print('search ware'), /\nkey +key_\w+ +as_stg_\w{4}… Warehouse +Zoo +active\n$/);
});

test('search says that nothing is found', async (t) => {
  const { print } = await createWorld(t);
  await print('keys create --plan pro --account Zoo');
  assert.equal(await print('search nobody'), 'nothing found\n');
  assert.deepEqual(JSON.parse(await print('search nobody --json')), { items: [], more: [] });
});
