import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Account } from './account.js';
import { Accounts } from './accounts.js';
import { Animal } from './animal.js';
import { Animals } from './animals.js';
import { callApi, watchSession } from './api.js';
import { Audit } from './audit.js';
import { Bans } from './bans.js';
import { Categories } from './categories.js';
import { html } from './html.js';
import { Notices, notify } from './notices.js';
import { Orders } from './orders.js';
import { Overview } from './overview.js';
import { Failure, PageHead } from './parts.js';
import { Requests } from './requests.js';
import { linkTo, useRoute } from './routing.js';
import { returnToPlace, SignIn, takeToken } from './sign-in.js';
import { Webhook, Webhooks } from './webhooks.js';

/** The sections, in the order of the navigation. `page` is the list of a section, `one` the page of one object. */
const rooms = [
  { path: '', title: 'Overview', page: Overview },
  { path: 'accounts', title: 'Accounts', page: Accounts, one: Account },
  { path: 'bans', title: 'Bans', page: Bans },
  { path: 'requests', title: 'Requests', page: Requests },
  { path: 'animals', title: 'Animals', page: Animals, one: Animal },
  { path: 'categories', title: 'Categories', page: Categories },
  { path: 'orders', title: 'Orders', page: Orders },
  { path: 'webhooks', title: 'Webhooks', page: Webhooks, one: Webhook },
  { path: 'audit', title: 'Audit', page: Audit },
];

function App() {
  const [token, setToken] = useState(takeToken);
  const [session, setSession] = useState(null);
  const [failure, setFailure] = useState(null);
  const [reason, setReason] = useState('');
  const [isKnown, setKnown] = useState(false);

  async function look() {
    setFailure(null);
    try {
      setSession(await callApi('GET', '/session'));
    } catch (error) {
      if (error.code !== 'session_missing') setFailure(error);
    }
    setToken(null);
    setKnown(true);
  }
  function enter() {
    returnToPlace();
    look();
  }
  function end(text) {
    setSession(null);
    setReason(text);
  }
  function leave() {
    location.hash = '';
    end('You are signed out.');
  }
  useEffect(() => {
    if (token === null) look();
    const follow = () => {
      const next = takeToken();
      if (next !== null) {
        setSession(null);
        setToken(next);
      }
    };
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  useEffect(() => watchSession(() => end('Your session has ended.')), []);

  if (failure !== null)
    return html`<main class="visitor"><h1>Animal Store console</h1><${Failure} failure=${failure} onRetry=${look} /></main>`;
  if (session !== null) return html`<${Frame} session=${session} onSignedOut=${leave} />`;
  if (token === null && !isKnown) return html`<main class="visitor"><p role="status">Loading…</p></main>`;
  return html`<${SignIn} key=${token} token=${token} reason=${reason} onSignedIn=${enter} />`;
}

function Frame({ session, onSignedOut }) {
  const { parts, query } = useRoute();
  const main = useRef(null);
  const [roomPath = '', name] = parts;
  const room = rooms.find(({ path }) => path === roomPath);
  const address = parts.join('/');
  const isFirst = useRef(true);

  useEffect(() => {
    document.title = `${name ?? room?.title ?? 'Not found'} · Animal Store ${session.environment}`;
    // Move the focus to the new page, for keyboards and screen readers.
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
    scrollTo(0, 0);
  }, [address]);

  return html`<a class="skip" href="#content" onClick=${(event) => skip(event, main)}>Skip to the content</a>
    <${Header} session=${session} roomPath=${roomPath} onSignedOut=${onSignedOut} />
    <main id="content" ref=${main} tabindex="-1">${showPage(room, name, query)}</main>
    <${Notices} />`;
}

function showPage(room, name, query) {
  if (room?.one !== undefined && name !== undefined)
    return html`<${room.one} key=${name} id=${name} query=${query} />`;
  if (room !== undefined && name === undefined) return html`<${room.page} query=${query} />`;
  return html`<${PageHead} title="Page not found" /><p>There is no such page. The navigation above lists all pages.</p>`;
}

function skip(event, main) {
  event.preventDefault();
  main.current?.focus();
}

function Header({ session, roomPath, onSignedOut }) {
  async function signOut() {
    try {
      await callApi('POST', '/sign-out');
      onSignedOut();
    } catch (error) {
      notify(error.message);
    }
  }
  return html`<header>
    <p class="brand">Animal Store <span class=${`environment ${session.environment}`}>${session.environment}</span></p>
    <nav aria-label="Console">
      <ul>
        ${rooms.map(
          ({ path, title }) =>
            html`<li key=${path}>
              <a href=${linkTo(path === '' ? [] : [path])} aria-current=${path === roomPath ? 'page' : undefined}>${title}</a>
            </li>`,
        )}
      </ul>
    </nav>
    <p class="who"><span class="quiet">${session.madeBy}</span> <button type="button" onClick=${signOut}>Sign out</button></p>
  </header>`;
}

const place = document.querySelector('#console');
if (place !== null) render(html`<${App} />`, place);
