import { Argument, Option } from 'commander';
import { toTime } from '../format.ts';
import type { ListedOperator } from '../operator/operators.ts';
import { tokenMs } from '../operator/sessions.ts';
import { type Role, roles } from '../operator-role.ts';
import { soon } from './arguments.ts';
import { type AppCommand, parseOperatorName, printLines, printTable } from './command.ts';
import { type Column, formatTime } from './output.ts';
import { parseLifetime } from './parsers.ts';

const nameArgument = () => new Argument('<name>', 'the name of the operator').argParser(parseOperatorName);

export function addOperators(program: AppCommand): void {
  const operators = program.addGroup('operators', 'name the people and programs that operate the store');
  operators
    .addLeaf('add', 'add an operator with a role')
    .withExamples('operators add mira --role support', 'operators add mira@example.com')
    .withNotes(`A reader sees everything but the addresses of requests. Support may also suspend
and resume accounts, lift bans, enable, disable and send for webhooks, cancel
orders and edit animals. An admin may do everything.`)
    .addArgument(nameArgument())
    .addOption(new Option('--role <role>', 'what the operator may do').choices(roles).default('reader'))
    .doesWithStore(async (store, { role }: { readonly role: Role }, name: string) => {
      await store.operators.add(name, role);
      return printLines({ name, role }, `${name} is an operator with the role ${role}`);
    });
  operators
    .addLeaf('list', 'list the operators')
    .withExamples('operators list', 'operators list --json')
    .doesWithStore(async (store) => printTable(await store.operators.list(), columns));
  operators
    .addLeaf('remove', `remove an operator, and end its sessions and tokens; ${soon}`)
    .withExamples('operators remove mira')
    .addArgument(nameArgument())
    .doesWithStore(async (store, _options, name: string) => {
      await store.operators.remove(name);
      return printLines({ name, removed: true }, `${name} is no longer an operator`);
    });
  addToken(operators);
}

function addToken(operators: AppCommand): void {
  operators
    .addLeaf('token', "make a token of an operator for the operator's API")
    .withExamples('operators token nightly-report --expires-in 90d')
    .withNotes('"console --list" shows all tokens, and "console --end ID" ends one.')
    .addArgument(nameArgument())
    .option('--expires-in <duration>', 'how long the token is valid (default: 365d)', parseLifetime)
    .doesWithStore(async (store, options: { readonly expiresIn?: number }, name: string) => {
      const made = await store.sessions.makeToken(name, options.expiresIn ?? tokenMs);
      const { id, token, expiresAtMs } = made;
      return printLines(
        { id, name, token, expiresAt: toTime(expiresAtMs) },
        `token    ${token}`,
        `id       ${id}`,
        `name     ${name}`,
        `expires  ${formatTime(expiresAtMs)}`,
        '',
        'Copy the token now: it is not stored and cannot be shown again.',
      );
    });
}

const columns: readonly Column<ListedOperator>[] = [
  { heading: 'NAME', cell: ({ name }) => name },
  { heading: 'ROLE', cell: ({ role }) => role },
  { heading: 'SESSIONS', cell: ({ sessions }) => String(sessions) },
  { heading: 'TOKENS', cell: ({ tokens }) => String(tokens) },
  { heading: 'ADDED', cell: ({ createdAtMs }) => formatTime(createdAtMs), leavesAt: 1 },
];
