import { parseArgs } from 'node:util';
import type { EventType } from '../generated.ts';
import { type Environment, readConnection, UsageError } from './connection.ts';
import { retrySeconds } from './deliver.ts';
import type { ListenCommand } from './listen.ts';
import { type TriggerCommand, triggers } from './trigger.ts';

const types = Object.keys(triggers) as readonly EventType[];

export const usage = `Usage:
  animal-store-client listen --forward-to URL [--from EVENT_ID] [--types TYPE,TYPE] [--secret SECRET] [--url URL]
  animal-store-client trigger TYPE [--url URL]

listen   sends each event to a receiver on this machine, signed as the service signs requests to webhooks
trigger  makes a change that yields an event: ${types.join(', ')}

  --forward-to URL   the address of the receiver, such as http://localhost:3000/hooks
  --from EVENT_ID    sends the events after this one, and then new ones; without it, only new ones
  --types TYPE,TYPE  sends only events of these types
  --secret SECRET    signs with this secret, whsec_…; without it, with a new one, which is printed
  --url URL          the base address of the service; without it, that in ANIMAL_STORE_URL

ANIMAL_STORE_KEY has the API key. A failed delivery is repeated after ${retrySeconds.join(', ')} seconds; then the next event follows.`;

type Command = ListenCommand | TriggerCommand | { readonly name: 'help' } | { readonly name: 'version' };

const listenOptions = {
  'forward-to': { type: 'string' },
  from: { type: 'string' },
  types: { type: 'string' },
  secret: { type: 'string' },
} as const;
const commonOptions = { url: { type: 'string' } } as const;

/** Reads the arguments of the program. Throws UsageError, whose message never contains the API key. */
export function readCommand(
  [name = '--help', ...rest]: readonly string[],
  environment: Environment,
): Command {
  if (rest.includes('--help') || ['help', '--help', '-h'].includes(name)) return { name: 'help' };
  if (name === '--version') return { name: 'version' };
  if (name === 'listen') return readListen(rest, environment);
  if (name === 'trigger') return readTrigger(rest, environment);
  throw new UsageError(`there is no command ${name}; the commands are listen and trigger`);
}

function readListen(args: string[], environment: Environment): ListenCommand {
  const { values } = explain(() => parseArgs({ args, options: { ...listenOptions, ...commonOptions } }));
  return {
    name: 'listen',
    forwardTo: readTarget(values['forward-to']),
    from: values.from ?? null,
    types: values.types === undefined ? null : new Set(values.types.split(',').map(readType)),
    secret: values.secret ?? null,
    ...readConnection(values.url, environment),
  };
}

function readTrigger(args: string[], environment: Environment): TriggerCommand {
  const { values, positionals } = explain(() =>
    parseArgs({ args, options: commonOptions, allowPositionals: true }),
  );
  const [type = '', ...others] = positionals;
  if (others.length > 0) throw new UsageError('trigger takes one type');
  return { name: 'trigger', type: readType(type), ...readConnection(values.url, environment) };
}

/** Turns the error of `parseArgs` into a UsageError. */
function explain<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function readType(text: string): EventType {
  const type = types.find((one) => one === text);
  if (type === undefined) throw new UsageError(`the type of an event must be one of ${types.join(', ')}`);
  return type;
}

function readTarget(text: string | undefined): string {
  const isTarget = text !== undefined && /^https?:\/\//i.test(text) && URL.canParse(text);
  const url = isTarget ? new URL(text) : null;
  if (url === null || url.username !== '' || url.password !== '')
    throw new UsageError(
      '--forward-to must be an http or https address without a password, such as http://localhost:3000/hooks',
    );
  return url.href;
}
