#!/usr/bin/env node
import { AnimalStoreError, ArgumentError } from '../errors.ts';
import { version } from '../settings.ts';
import { UsageError } from './connection.ts';
import { listen } from './listen.ts';
import { readCommand, usage } from './options.ts';
import { trigger } from './trigger.ts';

const print = (line: string) => void process.stdout.write(`${line}\n`);
const stopping = new AbortController();

async function run(): Promise<void> {
  const command = readCommand(process.argv.slice(2), process.env);
  switch (command.name) {
    case 'help':
      return print(usage);
    case 'version':
      return print(version);
    case 'trigger':
      return await trigger(command, print);
    case 'listen':
      // A second signal ends the program at once.
      for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());
      return await listen(command, print, stopping.signal);
  }
}

/** Returns one line without a stack. No message contains the API key. */
function describe(error: unknown): string {
  if (error instanceof AnimalStoreError && error.status !== null) return `${error.code}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

try {
  await run();
} catch (error) {
  if (!stopping.signal.aborted) {
    process.stderr.write(`animal-store-client: ${describe(error)}\n`);
    process.exitCode = error instanceof UsageError || error instanceof ArgumentError ? 2 : 1;
  }
}
