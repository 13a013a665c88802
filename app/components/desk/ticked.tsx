import { useEffect, useState } from "react";

/** How many boxes of a form are ticked, in brackets behind what its button says; nothing where script does not run. */
export function Ticked({ form }: { form: string }) {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const element = document.getElementById(form);
    const tell = () => setCount(element?.querySelectorAll("input[type=checkbox]:checked").length ?? 0);
    tell();
    element?.addEventListener("change", tell);
    return () => element?.removeEventListener("change", tell);
  });
  return count > 0 ? ` (${count})` : null;
}
