/** A strip on a board: the mark of the product. */
export function BrandMark({ className = "h-4 w-5.5" }: { className?: string }) {
  return (
    <svg aria-hidden="true" viewBox="0 0 28 20" className={className}>
      <rect width="28" height="20" rx="5" fill="#0f6fde" />
      <path d="M0 5a5 5 0 0 1 5-5h3v20H5a5 5 0 0 1-5-5z" fill="#f08c00" />
      <path d="M12 7h11M12 13h7" stroke="#fff" strokeWidth="2.6" strokeLinecap="round" />
    </svg>
  );
}
