import { AppError } from '../../errors.ts';
import { makeEmptyAnswer, makeTaggedAnswer, securityHeaders } from '../../http/response/answer.ts';
import { chooseForm, openOnce, pagePolicy } from '../../http/response/served-file.ts';
import { createPageRoute, type Route } from '../../http/route.ts';
import { readConsoleAssets } from './assets.ts';
import { consolePath } from './site.ts';

const pageHeaders = [
  ...securityHeaders(pagePolicy(false)),
  ...['referrer-policy', 'no-referrer'],
  ...['cross-origin-opener-policy', 'same-origin'],
  ...['cross-origin-resource-policy', 'same-origin'],
];

const htmlType = 'text/html; charset=utf-8';

/**
 * Creates the routes of the page and its files. The page and the files contain no secrets, so visitors may load them
 * without a session.
 */
export function createConsolePageRoutes(): Route[] {
  const open = openOnce(readConsoleAssets);
  const page = (path: string, answer: Parameters<typeof createPageRoute>[3]) =>
    createPageRoute(path, 'visitor', pageHeaders, answer);

  return [
    page(consolePath, async () => makeTaggedAnswer(renderShell((await open()).version), [], htmlType)),
    page(`${consolePath}/`, () => makeEmptyAnswer(301, ['location', '../console'])),
    page(`${consolePath}/icon.svg`, () => makeTaggedAnswer(icon, [], 'image/svg+xml')),
    page(`${consolePath}/assets/{version}/{file}`, async ({ params, headers }) => {
      const assets = await open();
      const asset = params['version'] === assets.version ? assets.find(params['file'] ?? '') : undefined;
      if (asset === undefined) throw new AppError('not_found', 'no such file');
      return chooseForm(asset, headers['accept-encoding']);
    }),
  ];
}

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#0b6e4f"/><g fill="#fff"><ellipse cx="8" cy="10.6" rx="3" ry="2.4"/><circle cx="4" cy="7.2" r="1.3"/><circle cx="6.6" cy="4.9" r="1.3"/><circle cx="9.4" cy="4.9" r="1.3"/><circle cx="12" cy="7.2" r="1.3"/></g></svg>';

/**
 * Returns the only HTML page. `main.js` fills it. All URLs are relative, so that the page also works under the path of
 * a proxy.
 */
function renderShell(version: string): string {
  const assets = `./console/assets/${version}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Animal Store console</title>
<link rel="icon" href="./console/icon.svg">
<link rel="stylesheet" href="${assets}/uplot.css">
<link rel="stylesheet" href="${assets}/console.css">
<script type="module" src="${assets}/main.js"></script>
</head>
<body>
<noscript><p>The console needs JavaScript. Every action is also a command: animal-store --help.</p></noscript>
<div id="console"></div>
</body>
</html>
`;
}
