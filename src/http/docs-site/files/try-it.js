/* The try-it form. It sends the input unchanged and shows the response with all digits of each number. */
const keyName = 'animal-store-key';
const section = document.getElementById('try');

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
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

/** Returns what the form asks for: the request with the values that the reader typed. */
function readRequest({ elements, dataset }) {
  const example = JSON.parse(dataset.request);
  const values = [...elements]
    .filter((input) => input.dataset.place !== undefined && input.value !== '')
    .map(({ name, value, dataset: { place, kind } }) => ({ place, name, kind, value }));
  const text = elements.namedItem('body')?.value ?? '';
  return { ...example, values, body: text.trim() === '' ? null : { ...example.body, text } };
}

/** Asks before a request that cannot be taken back. Returns true if the reader agrees, or if no question is needed. */
function mayBeSent({ values }, { base, question }) {
  if (question === undefined) return true;
  const named = values.filter(({ place }) => place === 'path').map(({ name, value }) => `${name}: ${value}`);
  return confirm([`${question}?`, ...named, `at ${new URL(base, location.href).host}`].join('\n'));
}

/** Throws an error that names what a browser cannot send, or would send in another form. */
function refuse({ path, values, body }, key) {
  const fail = (message) => {
    throw new Error(`${message} Nothing was sent.`);
  };
  if (/[^!-~]/.test(key))
    fail('The key may have only letters, digits and _. Paste the whole key, without the text around it.');
  for (const [, name] of path.matchAll(/\{(\w+)\}/g))
    if (!values.some((value) => value.name === name && value.place === 'path')) fail(`${name} is required.`);
  for (const { place, name, value } of [
    ...values,
    { place: 'body', name: 'Body', value: body?.text ?? '' },
  ]) {
    if (!value.isWellFormed()) fail(`${name} has half of a character, which a browser replaces.`);
    if (place === 'path' && /^\.\.?$/.test(value)) fail(`A browser takes ${value} in ${name} for a folder.`);
    if (place !== 'header') continue;
    if (/[^\t -~\u00a0-\u00ff]/.test(value))
      fail(`${name} has a character that a browser cannot send in a header.`);
    if (value !== value.trim()) fail(`${name} begins or ends with a space, which a browser removes.`);
  }
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

/** Sends the request, shows the response and returns its status line. */
async function send(form, request, key, answer) {
  const { method, values, body } = request;
  const address = new URL(form.dataset.base + writeTarget(request), location.href);
  const headers = Object.fromEntries(
    values.filter(({ place }) => place === 'header').map(({ name, value }) => [name, value]),
  );
  if (key !== '') headers.authorization = `Bearer ${key}`;
  if (body !== null) headers['content-type'] = body.type;
  const startedAt = performance.now();
  const response = await fetch(address, { method, headers, body: body?.text, cache: 'no-store' });
  const text = await response.text();
  const elapsedMs = Math.round(performance.now() - startedAt);
  const line = `${response.status} ${response.statusText} in ${elapsedMs} ms`;
  answer.replaceChildren();
  addBlock(answer, line, text === '' ? '(no body)' : isJson(text) ? formatJsonText(text) : text);
  addBlock(answer, 'Headers', [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n'));
  return line;
}

/**
 * Returns a function that shows a text in a block of code. Lines that the block had at first keep the colours that the
 * service gave them.
 */
function createView(code) {
  const coloured = code.innerHTML.split('\n');
  const known = new Map(code.textContent.split('\n').map((line, index) => [line, coloured[index]]));
  const escapeLine = (line) => Object.assign(document.createElement('i'), { textContent: line }).innerHTML;
  return (text) => {
    const lines = text.split('\n').map((line) => known.get(line) ?? escapeLine(line));
    code.innerHTML = lines.join('\n');
  };
}

const jsonField = /"(\w+)"\s*:\s*("(?:[^"\\]|\\.)*"|[\w.+-]+)/g;

/** Puts the values of a request into the example of its response: the fields of the body, and the id of the path. */
function fillAnswer(example, { values, body }, { values: formerValues }) {
  const sent = new Map([...(body?.text ?? '').matchAll(jsonField)].map(([, name, value]) => [name, value]));
  const write = ({ kind, value }) => (kind === 'text' ? JSON.stringify(value) : value);
  for (const given of values.filter(({ place }) => place === 'path')) {
    const former = formerValues.find(({ name }) => name === given.name);
    if (example.includes(`"id": ${write(former)},`)) sent.set('id', write(given));
  }
  return example.replaceAll(jsonField, (field, name) =>
    sent.has(name) ? `"${name}": ${sent.get(name)}` : field,
  );
}

/** Returns a request whose missing ids are those of the example, because a sample is a complete program. */
function fillIds(request, example) {
  const isMissing = ({ place, name }) =>
    place === 'path' && !request.values.some((value) => value.place === place && value.name === name);
  return { ...request, values: [...example.values.filter(isMissing), ...request.values] };
}

/** Lets the samples and the examples of the response follow the form, as long as its body is JSON. */
function followForm(form) {
  const example = JSON.parse(form.dataset.request);
  const samples = [...document.querySelectorAll('.samples code')].map(createView);
  const answers = [...document.querySelectorAll('[name="status"][value^="2"] + label + .panel code')].map(
    (code) => ({ text: code.textContent, show: createView(code) }),
  );
  form.addEventListener('input', ({ target }) => {
    const request = fillIds(readRequest(form), example);
    if (target.name === 'key' || (request.body !== null && !isJson(request.body.text))) return;
    for (const [index, { code }] of writeSamples(request).entries()) samples[index](code);
    if (example.answer !== 'object') return;
    for (const { text, show } of answers) show(fillAnswer(text, request, example));
  });
}

/**
 * Returns the message for a failed call. `fetch` throws TypeError if there is no response or if the other origin does
 * not allow the call.
 */
function explain(error, { base }) {
  const { origin } = new URL(base, location.href);
  if (!(error instanceof TypeError)) return error.message;
  if (origin === location.origin) return 'The service does not answer. Try again.';
  return `No response. To call ${origin} from this page, the operator of that service must add ${location.origin} to CORS_ORIGINS.`;
}

/** Sends the form once, then moves the focus to the response, so that it is in sight. */
async function submit(form) {
  const [alert, status, button] = ['[role="alert"]', '[role="status"]', '[type="submit"]'].map((selector) =>
    form.querySelector(selector),
  );
  if (button.ariaDisabled === 'true') return;
  alert.textContent = '';
  status.textContent = '';
  try {
    const request = readRequest(form);
    const key = readKey(form.elements.namedItem('key').value);
    refuse(request, key);
    if (!mayBeSent(request, form.dataset)) return;
    button.ariaDisabled = 'true';
    status.className = 'note';
    status.textContent = 'Sending…';
    const answer = section.querySelector('.answer');
    const line = await send(form, request, key, answer);
    // The response shows this line too, so it is only announced.
    status.className = 'unseen';
    status.textContent = `Response: ${line}`;
    answer.focus({ preventScroll: true });
    answer.scrollIntoView({ block: 'nearest' });
  } catch (error) {
    status.textContent = '';
    alert.textContent = explain(error, form.dataset);
  } finally {
    button.ariaDisabled = null;
  }
}

function start() {
  const form = section.querySelector('form');
  const key = form.elements.namedItem('key');
  key.value = restoreKey();
  key.addEventListener('input', () => keepKey(readKey(key.value)));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    submit(form);
  });
  followForm(form);
  section.hidden = false;
}

if (section !== null) start();
