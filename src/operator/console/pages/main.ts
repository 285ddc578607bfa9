import { html } from 'htm/preact';
import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Account } from './account.ts';
import { Accounts } from './accounts.ts';
import { Animal } from './animal.ts';
import { Animals } from './animals.ts';
import { ApiFailure, asError, callApi, watchSession } from './api.ts';
import { Audit } from './audit.ts';
import { Bans } from './bans.ts';
import { Categories } from './categories.ts';
import { Notices, notify } from './notices.ts';
import { Operators } from './operators.ts';
import { Order } from './order.ts';
import { Orders } from './orders.ts';
import { Overview } from './overview.ts';
import { Failure, PageHead } from './parts.ts';
import { Requests } from './requests.ts';
import { linkTo, type Query, useRoute } from './routing.ts';
import { Search, SearchField } from './search.ts';
import { type Session, SessionContext } from './session.ts';
import { rememberSignIn, returnToPlace, SignIn, takeToken, Visitor, wasSignedIn } from './sign-in.ts';
import { Strangers } from './strangers.ts';
import { Webhook } from './webhook.ts';
import { Webhooks } from './webhooks.ts';

/**
 * The sections, in the order of the navigation. `page` is the list of a section, `one` the page of one object. The navigation
 * leaves out an unlisted section, to which another page leads.
 */
const rooms = [
  { path: '', title: 'Overview', page: Overview },
  { path: 'accounts', title: 'Accounts', page: Accounts, one: Account },
  { path: 'bans', title: 'Bans', page: Bans },
  { path: 'requests', title: 'Requests', page: Requests },
  { path: 'strangers', title: 'Strangers', page: Strangers, isUnlisted: true },
  { path: 'animals', title: 'Animals', page: Animals, one: Animal },
  { path: 'categories', title: 'Categories', page: Categories },
  { path: 'orders', title: 'Orders', page: Orders, one: Order },
  { path: 'webhooks', title: 'Webhooks', page: Webhooks, one: Webhook },
  { path: 'operators', title: 'Operators', page: Operators },
  { path: 'audit', title: 'Audit', page: Audit },
];

type Room = (typeof rooms)[number];

function App() {
  const [token, setToken] = useState(takeToken);
  const [session, setSession] = useState<Session | null>(null);
  const [failure, setFailure] = useState<Error | null>(null);
  const [reason, setReason] = useState('');
  const [isKnown, setKnown] = useState(false);
  const hadSession = useRef(wasSignedIn());

  async function look() {
    setFailure(null);
    try {
      setSession(await callApi('GET /session', {}));
      rememberSignIn(true);
      hadSession.current = true;
    } catch (thrown) {
      const isSignedOut = thrown instanceof ApiFailure && thrown.code === 'session_missing';
      if (!isSignedOut) setFailure(asError(thrown));
    }
    setToken(null);
    setKnown(true);
  }
  function enter() {
    returnToPlace();
    look();
  }
  /** A newcomer never had a session, so none has ended. */
  function end(text: string) {
    setSession(null);
    if (hadSession.current) setReason(text);
    rememberSignIn(false);
    hadSession.current = false;
  }
  function leave() {
    location.hash = '';
    end('You are signed out.');
  }
  useEffect(() => {
    if (token === null) look();
    return watchLinks((next) => {
      setSession(null);
      setToken(next);
    });
  }, []);
  useEffect(() => watchSession(() => end('Your session has ended.')), []);

  if (failure !== null) return html`<${Visitor}><${Failure} failure=${failure} onRetry=${look} /><//>`;
  if (session !== null)
    return html`<${SessionContext.Provider} value=${session}>
      <${Frame} session=${session} onSignedOut=${leave} />
    <//>`;
  if (token === null && !isKnown) return html`<${Visitor}><p role="status">Loading…</p><//>`;
  return html`<${SignIn} key=${token} token=${token} reason=${reason} onSignedIn=${enter} />`;
}

/** Calls `listener` with the token of a link that is opened in this tab. Returns a function that removes the listener. */
function watchLinks(listener: (token: string) => void): () => void {
  const follow = () => {
    const token = takeToken();
    if (token !== null) listener(token);
  };
  addEventListener('hashchange', follow);
  return () => removeEventListener('hashchange', follow);
}

interface FrameProps {
  readonly session: Session;
  readonly onSignedOut: () => void;
}

function Frame({ session, onSignedOut }: FrameProps) {
  const { parts, query } = useRoute();
  const main = useRef<HTMLElement | null>(null);
  const [roomPath = '', name] = parts;
  const room = rooms.find(({ path }) => path === roomPath);
  const address = parts.join('/');
  const isFirst = useRef(true);

  useEffect(() => {
    // Move the focus to the new page, for keyboards and screen readers.
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
    scrollTo(0, 0);
  }, [address]);

  /** The link would change the address of the page. */
  function skip(event: Event) {
    event.preventDefault();
    main.current?.focus();
  }
  return html`<a class="skip" href="#content" onClick=${skip}>Skip to the content</a>
    <${Header} session=${session} roomPath=${roomPath} text=${query['text']} onSignedOut=${onSignedOut} />
    <main id="content" ref=${main} tabindex="-1">${showPage(roomPath, room, name, query)}</main>
    <${Notices} />`;
}

function showPage(roomPath: string, room: Room | undefined, name: string | undefined, query: Query) {
  if (roomPath === 'search') return html`<${Search} query=${query} />`;
  if (room?.one !== undefined && name !== undefined)
    return html`<${room.one} key=${name} id=${name} query=${query} />`;
  if (room !== undefined && name === undefined) return html`<${room.page} query=${query} />`;
  return html`<${PageHead} title="Page not found" />
    <p>There is no such page. The navigation above lists all pages.</p>`;
}

interface HeaderProps extends FrameProps {
  readonly roomPath: string;
  /** The text of the search that the page shows. */
  readonly text: string | undefined;
}

function Header({ session, roomPath, text, onSignedOut }: HeaderProps) {
  async function signOut() {
    try {
      await callApi('POST /sign-out', {});
      onSignedOut();
    } catch (thrown) {
      notify(asError(thrown).message);
    }
  }
  const link = ({ path, title }: Room) => {
    const current = path === roomPath ? 'page' : undefined;
    return html`<li key=${path}>
      <a href=${linkTo(path === '' ? [] : [path])} aria-current=${current}>${title}</a>
    </li>`;
  };
  const { environment, name, role } = session;
  return html`<header>
    <p class="brand">
      Animal Store <span class=${`environment ${environment}`}>${environment}</span>
    </p>
    <${SearchField} text=${text} />
    <p class="who">
      <span class="quiet">${name} (${role})</span> <button type="button" onClick=${signOut}>Sign out</button>
    </p>
    <nav aria-label="Console">
      <ul>${rooms.filter(({ isUnlisted }) => isUnlisted !== true).map(link)}</ul>
    </nav>
  </header>`;
}

const place = document.querySelector('#console');
if (place !== null) render(html`<${App} />`, place);
