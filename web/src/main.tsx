import "@fontsource-variable/inter/opsz.css";
import "@fontsource-variable/jetbrains-mono/wght.css";
import "./styles/app.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import { client, store } from "./app/runtime";
import { followPreferences } from "./app/theme";
import { holdPage } from "./socket/pages";
import { takeCodeFromAddress } from "./socket/secret";

followPreferences(store);
holdPage();
void client.start(takeCodeFromAddress(window));
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") client.pageVisible();
});

const root = document.getElementById("root");
if (!root) throw new Error("index.html holds the root element");
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
