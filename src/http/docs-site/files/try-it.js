/* The try-it form. It sends the input unchanged and shows the response with all digits of each number. */
const keyName = 'animal-store-key';
const section = document.getElementById('try');

const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Formats JSON by its tokens. Numbers are not parsed, so they keep all digits. Returns other text unchanged. */
function formatExactly(text) {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  let indent = '';
  let result = '';
  let last = '';
  for (const [part] of text.matchAll(token)) {
    if (/^[}\]]$/.test(part)) {
      indent = indent.slice(2);
      if (!/^[{[]$/.test(last)) result += `\n${indent}`;
    } else if (/^[{[,]$/.test(last)) result += `\n${indent}`;
    result += part === ':' ? ': ' : part;
    if (/^[{[]$/.test(part)) indent += '  ';
    last = part;
  }
  return result;
}

/** Returns a pasted key without spaces around it and without the prefix `Authorization: Bearer`. */
function readKey(text) {
  return text.trim().replace(/^(?:Authorization:\s*)?Bearer\s+/i, '');
}

/** Stores the key until the tab is closed. */
function keepKey(key) {
  try {
    if (key === '') sessionStorage.removeItem(keyName);
    else sessionStorage.setItem(keyName, key);
  } catch {
    // Storage is not available. The input field still contains the key.
  }
}

function restoreKey() {
  try {
    return sessionStorage.getItem(keyName) ?? '';
  } catch {
    return '';
  }
}

/** Returns the URL of the request. Throws if a path parameter is missing. */
function writeAddress({ base, path }, inputs) {
  let target = path;
  const query = new URLSearchParams();
  for (const { name, value, dataset } of inputs) {
    if (dataset.place === 'query' && value !== '') query.set(name, value);
    if (dataset.place !== 'path') continue;
    if (value === '') throw new Error(`${name} is required.`);
    target = target.replace(`{${name}}`, encodeURIComponent(value));
  }
  const text = String(query);
  return new URL(base + target + (text === '' ? '' : `?${text}`), location.href).href;
}

function writeHeaders({ type }, inputs, key, hasBody) {
  const headers = {};
  if (key !== '') headers.authorization = `Bearer ${key}`;
  if (hasBody) headers['content-type'] = type;
  for (const { name, value, dataset } of inputs) {
    if (dataset.place !== 'header' || value === '') continue;
    if (/[^\t -~\u00a0-\u00ff]/.test(value))
      throw new Error(`${name} has a character that a browser cannot send in a header. Nothing was sent.`);
    headers[name] = value;
  }
  return headers;
}

function addBlock(parent, caption, text) {
  const title = document.createElement('p');
  title.className = 'caption';
  title.textContent = caption;
  const block = document.createElement('pre');
  block.tabIndex = 0;
  const code = document.createElement('code');
  code.textContent = text;
  block.append(code);
  parent.append(title, block);
}

async function send(form, answer) {
  const { elements, dataset } = form;
  const inputs = [...elements].filter(({ dataset: { place } }) => place !== undefined);
  const body = elements.namedItem('body')?.value;
  const key = readKey(elements.namedItem('key').value);
  if (/[^!-~]/.test(key))
    throw new Error('The key may have only letters, digits and _. Nothing was sent. Paste the whole key.');
  const address = writeAddress(dataset, inputs);
  const startedAt = performance.now();
  const headers = writeHeaders(dataset, inputs, key, body !== undefined);
  const response = await fetch(address, { method: dataset.method, headers, body, cache: 'no-store' });
  const text = await response.text();
  const elapsedMs = Math.round(performance.now() - startedAt);
  answer.replaceChildren();
  addBlock(
    answer,
    `${response.status} ${response.statusText} in ${elapsedMs} ms`,
    text === '' ? '(no body)' : formatExactly(text),
  );
  addBlock(answer, 'Headers', [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n'));
}

/**
 * Returns the message for a failed call. `fetch` throws TypeError if there is no response or if the other origin does
 * not allow the call.
 */
function explain(error, { base }) {
  const { origin } = new URL(base, location.href);
  if (!(error instanceof TypeError)) return error.message;
  if (origin === location.origin) return 'The service does not answer. Try again.';
  return `No answer. To call ${origin} from this page, the operator of that service must add ${location.origin} to CORS_ORIGINS.`;
}

function start() {
  const form = section.querySelector('form');
  const alert = form.querySelector('[role="alert"]');
  const key = form.elements.namedItem('key');
  key.value = restoreKey();
  key.addEventListener('input', () => keepKey(readKey(key.value)));
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    alert.textContent = '';
    try {
      await send(form, section.querySelector('.answer'));
    } catch (error) {
      alert.textContent = explain(error, form.dataset);
    }
  });
  section.hidden = false;
}

if (section !== null) start();
