// The console: who signed in, and the page of the address.
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call, session } from './api.js';
import { FlowPage } from './flow.js';
import { ContradictionsPage, FlowsPage, ParkedPage, ProposalsPage } from './flows.js';
import { CallbacksPage, EventsPage } from './inbox.js';
import { html } from './parts.js';

const PAGES = [
  ['#/', 'Parked', ParkedPage],
  ['#/proposals', 'Second person', ProposalsPage],
  ['#/contradictions', 'Contradictions', ContradictionsPage],
  ['#/flows', 'Flows', FlowsPage],
  ['#/events', 'Events', EventsPage],
  ['#/callbacks', 'Callbacks', CallbacksPage],
];
const OF_A_FLOW = /^#\/flow\/([^/]+\/[^/]+)$/;

function useAddress() {
  const [address, setAddress] = useState(location.hash || '#/');
  useEffect(() => {
    const follow = () => setAddress(location.hash || '#/');
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return address;
}

function App({ ui }) {
  const [me, setMe] = useState(undefined);
  const [problem, setProblem] = useState(undefined);
  const address = useAddress();
  const signIn = async (token) => {
    if (token !== undefined) session.begin(token);
    try {
      setMe(await call('GET', '/whoami'));
      setProblem(undefined);
    } catch (error) {
      if (error.status === 401) session.end();
      setProblem(error.message);
    }
  };
  const signOut = () => {
    session.end();
    setMe(undefined);
  };
  useEffect(() => {
    if (session.token() !== null) void signIn();
  }, []);
  if (me === undefined) return html`<${SignIn} problem=${problem} signIn=${signIn} />`;

  const [, flowId] = OF_A_FLOW.exec(address) ?? [];
  const [, , Page = ParkedPage] = PAGES.find(([at]) => at === address) ?? [];
  return html`<a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    <header>
      <strong>Towline</strong>
      <nav aria-label="Pages">
        ${PAGES.map(
          ([at, name]) =>
            html`<a href=${at} aria-current=${flowId === undefined && at === address ? 'page' : undefined}>${name}</a>`,
        )}
      </nav>
      <span class="me">${me.name} (${me.role})</span>
      <button type="button" onClick=${signOut}>Sign out</button>
    </header>
    <main id="main" tabindex="-1">
      ${
        flowId === undefined
          ? html`<${Page} key=${address} me=${me} />`
          : html`<${FlowPage} key=${flowId} flowId=${decodeURI(flowId)} me=${me} ui=${ui} />`
      }
    </main>`;
}

/** The address stays that of the page, because it names the flow. */
function skip(event) {
  event.preventDefault();
  document.getElementById('main').focus();
}

function SignIn({ problem, signIn }) {
  const submit = (event) => {
    event.preventDefault();
    void signIn(new FormData(event.target).get('token'));
  };
  return html`<main class="sign-in">
    <h1>Towline</h1>
    <form onSubmit=${submit}>
      <label>
        Token
        <input name="token" type="password" required autofocus autocomplete="current-password" />
      </label>
      <button type="submit">Sign in</button>
    </form>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    <p class="hint">
      A token of <code>GATEWAY_TOKENS</code>, or an access token of your identity provider. It stays in this tab.
    </p>
  </main>`;
}

const root = document.getElementById('console');
render(html`<${App} ui=${root.dataset.ui} />`, root);
