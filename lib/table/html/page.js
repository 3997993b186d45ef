/* What the page does: tabs, sorting, light and dark. It goes into the page by embed.awk: a line that
 * begins with blanks continues the one before, and comments are left out. */
(function(){'use strict';
/* Tabs: the panel of one is visible; arrow keys go to the next. */
var tabs=[].slice.call(document.querySelectorAll('[role=tab]'));
function show(t,focus){
  tabs.forEach(function(o){
    var on=o===t;
    o.setAttribute('aria-selected',on);
    o.tabIndex=on?0:-1;
    document.getElementById(o.getAttribute('aria-controls')).hidden=!on
  });
  if(focus)t.focus()
  }
tabs.forEach(function(t,i){
  t.addEventListener('click',function(){show(t)});
  t.addEventListener('keydown',function(e){
    var d=e.key==='ArrowRight'?1:e.key==='ArrowLeft'?-1:0;
    if(d){e.preventDefault();show(tabs[(i+d+tabs.length)%tabs.length],true)}
  })
  });
if(tabs.length)show(tabs[0]);
document.body.className='on';
/* #kernels: the tab of this name, or in which that table is. */
function follow(){
  var id=decodeURIComponent(location.hash.slice(1)),e=id&&document.getElementById(id),
    panel=e?e.closest('[role=tabpanel]'):document.getElementById('panel-'+id),
    tab=panel&&document.getElementById(panel.getAttribute('aria-labelledby'));
  if(tab){show(tab);(e||tab).scrollIntoView({block:e?'start':'nearest'})}
  }
addEventListener('hashchange',follow);follow();
/* Sorting: by the number in data-v, or else by the text; cells without a value come last, and what
 * is equal stays in its order. Text sorts up first, numbers down. */
document.querySelectorAll('th button').forEach(function(b){
  b.addEventListener('click',function(){
var th=b.parentNode,row=th.parentNode,n=[].indexOf.call(row.children,th),
  body=th.closest('table').tBodies[0];
var first=th.classList.contains('t')?'ascending':'descending';
var now=th.getAttribute('aria-sort'),
  dir=now==='none'||!now?first:now==='ascending'?'descending':'ascending';
[].forEach.call(row.children,function(o){o.setAttribute('aria-sort','none')});
  th.setAttribute('aria-sort',dir);
var up=dir==='ascending'?1:-1,
  rows=[].slice.call(body.rows).map(function(r,i){
    var c=r.cells[n],v=c.dataset.v;
    return{r:r,i:i,k:v===undefined?c.textContent:v===''?null:+v}
  });
rows.sort(function(x,y){
  if(x.k===null||y.k===null)return(x.k===null)-(y.k===null)||x.i-y.i;
  var o=typeof x.k==='number'?x.k-y.k:x.k<y.k?-1:x.k>y.k?1:0;
  return o*up||x.i-y.i
  });
rows.forEach(function(o){body.appendChild(o.r)})
  })
  });
/* Flame graphs: what is clicked becomes as wide as the page. */
document.querySelectorAll('.flame').forEach(function(f){
  var all=[].map.call(f.children,function(e){
    return{e:e,x:parseFloat(e.style.left),w:parseFloat(e.style.width)}
  });
  function zoom(x,w){
    all.forEach(function(o){
      var l=Math.max((o.x-x)/w*100,0),r=Math.min((o.x+o.w-x)/w*100,100);
      o.e.hidden=r-l<.02;
      o.e.style.left=l+'%';
      o.e.style.width=r-l+'%'
    })
  }
  f.addEventListener('click',function(ev){
    all.forEach(function(o){if(o.e===ev.target)zoom(o.x,o.w)})
  });
  addEventListener('keydown',function(ev){if(ev.key==='Escape')zoom(0,100)})
  });
/* Light and dark: as the system has it until the button is pressed. */
var root=document.documentElement;
  document.getElementById('theme').addEventListener('click',function(){
    var dark=root.dataset.theme?root.dataset.theme==='dark':
      matchMedia('(prefers-color-scheme:dark)').matches;
    root.dataset.theme=dark?'light':'dark'
  });
})();
