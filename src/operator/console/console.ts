import { AppError } from '../../errors.ts';
import {
  listHeaders,
  makeEmptyAnswer,
  makeTaggedAnswer,
  securityHeaders,
} from '../../http/response/answer.ts';
import { chooseForm, openOnce, pagePolicy } from '../../http/response/served-file.ts';
import { createPageRoute, type Route } from '../../http/route.ts';
import { consolePath, type Sessions } from '../sessions.ts';
import { accountOperations } from './api/accounts.ts';
import { animalOperations } from './api/animals.ts';
import { serviceOperations } from './api/service.ts';
import { webhookOperations } from './api/webhooks.ts';
import { readConsoleFiles } from './console-files.ts';
import { bindConsoleOperation, type ConsoleServices } from './operation.ts';
import { createConsoleGate, createSignInRoutes } from './sign-in.ts';

export const consoleOperations = [
  ...serviceOperations,
  ...accountOperations,
  ...animalOperations,
  ...webhookOperations,
];

export type Console = ReturnType<typeof buildConsole>;

/** Builds the web console. `consoleUrl` is the setting `CONSOLE_URL`, or null. */
export function buildConsole(
  services: ConsoleServices & { readonly sessions: Sessions },
  consoleUrl: string | null,
) {
  return {
    gate: createConsoleGate(services.sessions, consoleUrl),
    routes: [
      ...createPageRoutes(),
      ...createSignInRoutes(services.sessions, consoleUrl),
      ...consoleOperations.map((operation) => bindConsoleOperation(operation, services)),
    ],
  };
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
