import type { Config } from '../../config.ts';
import { AppError } from '../../errors.ts';
import { describeOperatorApi } from '../../http/openapi/description.ts';
import {
  listHeaders,
  makeEmptyAnswer,
  makeTaggedAnswer,
  securityHeaders,
} from '../../http/response/answer.ts';
import { chooseForm, openOnce, pagePolicy } from '../../http/response/served-file.ts';
import { createPageRoute, type Route } from '../../http/route.ts';
import { coversRole, type Role } from '../../operator-role.ts';
import type { Operators } from '../operators.ts';
import { createProfileRoute } from '../profile.ts';
import { consolePath, type Sessions } from '../sessions.ts';
import { accountOperations } from './api/accounts.ts';
import { animalOperations } from './api/animals.ts';
import { keyOperations } from './api/keys.ts';
import { operatorOperations } from './api/operators.ts';
import { serviceOperations } from './api/service.ts';
import { webhookOperations } from './api/webhooks.ts';
import { readConsoleFiles } from './console-files.ts';
import { bindConsoleOperation, type ConsoleServices, operatorsApiPath } from './operation.ts';
import { createProxyUser, type ProxySettings } from './proxy-user.ts';
import { createConsoleGate, createSignInRoutes } from './sign-in.ts';

export const consoleOperations = [
  ...serviceOperations,
  ...accountOperations,
  ...keyOperations,
  ...animalOperations,
  ...webhookOperations,
  ...operatorOperations,
];

/** The groups of operations in the description of the operator's API. */
const operatorTags = [
  { name: 'session', description: 'Who calls, and what they may do.' },
  { name: 'overview', description: 'The state of the service.' },
  { name: 'search', description: 'What a text is the name or the id of.' },
  { name: 'requests', description: 'The requests that failed or were slow.' },
  { name: 'strangers', description: 'The addresses that send refused requests without a valid key.' },
  { name: 'log', description: 'What the running instances log.' },
  { name: 'audit', description: 'Who changed what, and when.' },
  { name: 'accounts', description: 'The accounts with their plans, limits and use.' },
  { name: 'usage', description: 'The requests of all accounts by day.' },
  { name: 'keys', description: 'The API keys of the accounts.' },
  { name: 'bans', description: 'The banned keys.' },
  { name: 'pets', description: 'The animals of the catalogue.' },
  { name: 'categories', description: 'Names for the numbers that animals have as `categoryId`.' },
  { name: 'orders', description: 'Reservations and sales of animals.' },
  { name: 'webhooks', description: 'The webhooks of the accounts.' },
  { name: 'operators', description: 'The people and programs that operate the store.' },
  { name: 'sessions', description: 'The sessions and tokens of operators.' },
];

/** Returns the addresses of the operations that a role may call. The pages of the console offer only these. */
export function listActs(role: Role | null): readonly string[] {
  return consoleOperations.filter((one) => coversRole(role, one.role)).map(({ address }) => address);
}

export type Console = ReturnType<typeof buildConsole>;

/** Builds the web console. The settings are those of the console. */
export function buildConsole(
  services: Omit<ConsoleServices, 'listActs'> & {
    readonly sessions: Sessions;
    readonly findRole: Operators['findRole'];
  },
  { consoleUrl, ...proxy }: Pick<Config, 'consoleUrl'> & ProxySettings,
) {
  const findProxied = createProxyUser(proxy, services.findRole);
  const all = { ...services, listActs };
  return {
    gate: createConsoleGate(services.sessions, consoleUrl, findProxied),
    routes: [
      ...createPageRoutes(),
      createDescriptionRoute(),
      ...createSignInRoutes(services.sessions, consoleUrl),
      createProfileRoute(services.sessions),
      ...consoleOperations.flatMap((operation) => bindConsoleOperation(operation, all)),
    ],
  };
}

/** The description has no secrets, so it needs no token. */
function createDescriptionRoute(): Route {
  const open = openOnce(async () => describeOperatorApi(consoleOperations, operatorTags, operatorsApiPath));
  return createPageRoute('/ops/openapi.json', 'operator', null, async () => makeTaggedAnswer(await open()));
}

const pageHeaders = [
  ...securityHeaders(pagePolicy()),
  ...listHeaders({
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  }),
];

/** The page and its files contain no secrets, so visitors may load them without a session. */
function createPageRoutes(): Route[] {
  const open = openOnce(readConsoleFiles);
  const page = (path: string, answer: Parameters<typeof createPageRoute>[3]) =>
    createPageRoute(path, 'visitor', pageHeaders, answer);

  return [
    page(consolePath, async () => makeTaggedAnswer((await open()).shell, [], 'text/html; charset=utf-8')),
    page(`${consolePath}/`, () => makeEmptyAnswer(301, ['location', '../console'])),
    page(`${consolePath}/assets/{version}/{file}`, async ({ params, headers }) => {
      const { version, files } = await open();
      const asset = files.get(params['file'] ?? '');
      if (asset === undefined || params['version'] !== version)
        throw new AppError('not_found', 'no such file');
      return chooseForm(asset, headers['accept-encoding']);
    }),
  ];
}
